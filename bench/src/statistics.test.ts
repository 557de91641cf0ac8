import { expect, test } from "vitest";
import { median, quantile, quantileBetween, readHistogram, readMetric } from "./statistics.ts";

test("the median is the middle value, or the mean of the two in the middle", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([1, 9, 5, 6])).toBe(5.5);
  expect(median([])).toBeNaN();
});

test("a quantile is one of the values, and that share of them is not above it", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(quantile(hundred, 0.99)).toBe(99);
  expect(quantile(hundred, 1)).toBe(100);
  expect(quantile([7], 0.5)).toBe(7);
});

const scraped = (fast: number, slow: number) => `# TYPE took_seconds histogram
took_seconds_bucket{le="0.001"} ${fast}
took_seconds_bucket{le="0.003"} ${fast + slow}
took_seconds_bucket{le="+Inf"} ${fast + slow}
took_seconds_count ${fast + slow}
`;

test("a quantile between two readings of a histogram counts what came between them, rounded up to a bucket", () => {
  const before = readHistogram(scraped(0, 1_000), "took_seconds");
  const after = readHistogram(scraped(990, 1_010), "took_seconds");
  expect(quantileBetween(before, after, 0.99)).toBe(0.001);
  expect(quantileBetween(before, after, 0.995)).toBe(0.003);
  expect(quantileBetween(after, after, 0.99)).toBeNaN();
});

test("a metric is summed over its labels, and another that begins alike is left alone", () => {
  const text = 'clicks_total{reason="full"} 2\nclicks_total{reason="error"} 3\nclicks_total_bytes 100\n';
  expect(readMetric(text, "clicks_total")).toBe(5);
  expect(readMetric(text, "nothing")).toBe(0);
});
