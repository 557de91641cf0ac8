import { botReasons } from "@sluice/click-event/bot.ts";
import { expect, test } from "vitest";
import { LinkClicked } from "./link-clicked.ts";

test("every reason to take a click for a bot's can be sent", () => {
  expect(LinkClicked.shape.bot_reasons.element.options).toEqual(Object.keys(botReasons));
});
