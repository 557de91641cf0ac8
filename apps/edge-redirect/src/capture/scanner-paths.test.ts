import { expect, it } from "vitest";

import { isScannerPath } from "./scanner-paths.ts";

it.each([
  ["A24", "wordpress/plugins/x"],
  ["A24", "wp-admin.php"],
  ["A24", "wp-login.php"],
  ["A24", "blog/wp-includes/wlwmanifest.xml"],
  ["", ".env"],
  ["", ".git/config"],
  ["", "backup.SQL"],
  ["", "cgi-bin/luci"],
  ["", "xmlrpc.php"],
  ["", "phpMyAdmin"],
])("%s: scanners look for %s", (_, slug) => {
  expect(isScannerPath(slug)).toBe(true);
});

it.each([
  "summer",
  "wp",
  "a.b_c~d",
  "env",
  "php",
  "word-press",
  "vendors",
  "my-wp-admin-course",
  "🍞",
  "sql.course",
])("%s is anybody's", (slug) => {
  expect(isScannerPath(slug)).toBe(false);
});
