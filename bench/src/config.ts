/**
 * What a started program inherits: where to find other programs, and nothing that would change how a service of ours
 * runs.
 */
export function environmentOf(own: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { HOME, TMPDIR, PATH = "" } = process.env;
  // nginx is a system program: not every account looks there.
  return { HOME, TMPDIR, PATH: `${PATH}:/usr/sbin:/sbin`, LC_ALL: "C", ...own };
}
