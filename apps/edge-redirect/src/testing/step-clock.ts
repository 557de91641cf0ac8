// Loaded into an edge by `--import`: SIGUSR2 sets its clock back by five seconds.
const systemNow = Date.now;
let stepBackMs = 0;
Date.now = () => systemNow() - stepBackMs;
process.on("SIGUSR2", () => {
  stepBackMs += 5_000;
});
