import type { Board, Panel } from "./board.ts";

/** Every query reads the view `clicks`, where no click is twice; people are those that `is_bot` does not mark. */
const chosen = "$__timeFilter(ts) AND workspace_id IN (${workspace:csv})";

/** What the clicks say, for those whose links they are. */
export const business: Board = {
  uid: "sluice-business",
  title: "Sluice: clicks",
  from: "7d",
  refresh: "5m",
  byWorkspace: true,
  rows: [
    {
      height: 4,
      panels: [
        figure("Clicks", `SELECT count() AS clicks FROM clicks WHERE ${chosen} AND NOT is_bot`),
        figure(
          "Visitors",
          `SELECT sum(visitors) AS visitors FROM (SELECT uniqIf(visitor, visitor != '') AS visitors FROM clicks WHERE ${chosen} AND NOT is_bot GROUP BY workspace_id, toDate(ts))`,
          "Each counts once a day: their number is void after that.",
        ),
        figure(
          "Links clicked",
          `SELECT uniqExact(workspace_id, link_id) AS links FROM clicks WHERE ${chosen} AND NOT is_bot`,
        ),
        {
          ...figure("By programs", `SELECT countIf(is_bot) / count() AS share FROM clicks WHERE ${chosen}`),
          unit: "percentunit",
        },
      ],
    },
    {
      height: 9,
      panels: [
        {
          title: "Clicks",
          kind: "timeseries",
          width: 24,
          queries: [
            {
              sql: `SELECT $__timeInterval(ts) AS time, countIf(NOT is_bot) AS people, countIf(is_bot) AS programs FROM clicks WHERE ${chosen} GROUP BY time ORDER BY time`,
            },
          ],
        },
      ],
    },
    {
      height: 10,
      panels: [
        {
          title: "Links",
          kind: "table",
          width: 12,
          queries: [
            {
              sql: `SELECT domain, slug, count() AS clicks, uniqIf((toDate(ts), visitor), visitor != '') AS visitors, max(ts) AS last FROM clicks WHERE ${chosen} AND NOT is_bot GROUP BY domain, slug ORDER BY clicks DESC LIMIT 50`,
            },
          ],
        },
        {
          title: "Campaigns",
          kind: "table",
          width: 12,
          queries: [
            {
              sql: `SELECT utm_source AS source, utm_medium AS medium, utm_campaign AS campaign, count() AS clicks, countIf(notEmpty(click_ids)) AS from_ads FROM clicks WHERE ${chosen} AND NOT is_bot AND utm_source || utm_campaign != '' GROUP BY source, medium, campaign ORDER BY clicks DESC LIMIT 50`,
            },
          ],
        },
      ],
    },
    {
      height: 9,
      panels: [
        top("Countries", "country"),
        top("Came from", "referrer_channel"),
        top("Devices", "device"),
        top("Browsers", "browser"),
      ],
    },
  ],
};

function figure(title: string, sql: string, about?: string): Panel {
  return { title, ...(about !== undefined && { about }), kind: "stat", width: 6, queries: [{ sql }] };
}

function top(title: string, column: string): Panel {
  const sql = `SELECT if(${column} = '', 'unknown', toString(${column})) AS value, count() AS clicks FROM clicks WHERE ${chosen} AND NOT is_bot GROUP BY value ORDER BY clicks DESC LIMIT 12`;
  return { title, kind: "barchart", width: 6, queries: [{ sql }] };
}
