// What must happen in one step. Each runs on the server without anything in between; a thousand records a call take it
// a millisecond or two.

/** Most records or ids that are given to a script at once. */
export const maxPerScript = 1000;

/**
 * Removes what every one of `groups` has acknowledged: what lies before the oldest entry that one of them has pending
 * or has not been given. A group that is not there yet begins at the oldest entry, so nothing goes before it has come.
 */
const trimming = `
local function before(a, b)
  local ams, aseq = a:match('(%d+)-(%d+)')
  local bms, bseq = b:match('(%d+)-(%d+)')
  if ams ~= bms then return tonumber(ams) < tonumber(bms) end
  return tonumber(aseq) < tonumber(bseq)
end
local function trim(key, groups)
  if #groups == 0 or redis.call('EXISTS', key) == 0 then return 0 end
  local lowest = {}
  for _, info in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local group = {}
    for i = 1, #info, 2 do group[info[i]] = info[i + 1] end
    if group.pending > 0 then
      lowest[group.name] = redis.call('XPENDING', key, group.name, '-', '+', 1)[1][1]
    else
      local ms, seq = group['last-delivered-id']:match('(%d+)-(%d+)')
      lowest[group.name] = ms .. '-' .. string.format('%.0f', seq + 1)
    end
  end
  local keep
  for _, name in ipairs(groups) do
    if not lowest[name] then return 0 end
    if not keep or before(lowest[name], keep) then keep = lowest[name] end
  end
  return redis.call('XTRIM', key, 'MINID', keep)
end
`;

/** ARGV: groups. Gives how many entries went. */
export const trimScript = `${trimming} return trim(KEYS[1], ARGV)`;

/**
 * ARGV: the stream's bound, how many records must fit (0 when that was asked before), how many groups, the groups,
 * then key and value of each record. Gives 1, or 0 when they do not fit, and nothing was added.
 */
export const appendScript = `${trimming}
local wanted, first = tonumber(ARGV[2]), 4 + ARGV[3]
if wanted > 0 then
  local room = ARGV[1] - redis.call('XLEN', KEYS[1])
  if room < wanted then room = room + trim(KEYS[1], {unpack(ARGV, 4, first - 1)}) end
  if room < wanted then return 0 end
end
for i = first, #ARGV, 2 do redis.call('XADD', KEYS[1], '*', 'k', ARGV[i], 'v', ARGV[i + 1]) end
return 1`;

/**
 * ARGV: group, consumer, …, then ids in ascending order, from the fourth on. `taken` are those that another consumer
 * has now, `gone` those that nobody has: acknowledged, deleted, or their group is a new one.
 */
const ownership = `
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local ids = {unpack(ARGV, 4)}
local mine, taken, gone = {}, {}, {}
for _, entry in ipairs(redis.call('XPENDING', key, group, ids[1], ids[#ids], 1000000, consumer)) do
  mine[entry[1]] = true
end
for _, id in ipairs(ids) do
  if not mine[id] then
    table.insert(#redis.call('XPENDING', key, group, id, id, 1) > 0 and taken or gone, id)
  end
end
`;

/**
 * Acknowledges all of the ids or none. The third argument is "1" when ids that nobody has are well. Gives what
 * another has, and what nobody has.
 */
export const acknowledgeScript = `${ownership}
if #taken == 0 and (#gone == 0 or ARGV[3] == '1') then redis.call('XACK', key, group, unpack(ids)) end
return {taken, gone}`;

/** Puts off the moment when they count as abandoned, of those that are the consumer's. Gives the others. */
export const renewScript = `${ownership}
local still = {}
for _, id in ipairs(ids) do if mine[id] then table.insert(still, id) end end
if #still > 0 then
  table.insert(still, 'JUSTID')
  redis.call('XCLAIM', key, group, consumer, 0, unpack(still))
end
return {taken, gone}`;

/**
 * ARGV: group, consumer, how many, and since when they shall look abandoned, in ms. Gives up so many of what the
 * consumer has pending, to whoever looks next; with nothing left, the consumer is forgotten. Gives how many there
 * were.
 */
export const leaveScript = `
local key, group, consumer = KEYS[1], ARGV[1], ARGV[2]
local ids = {}
for _, entry in ipairs(redis.call('XPENDING', key, group, '-', '+', ARGV[3], consumer)) do
  table.insert(ids, entry[1])
end
local count = #ids
if count == 0 then
  redis.call('XGROUP', 'DELCONSUMER', key, group, consumer)
else
  for _, option in ipairs({'IDLE', ARGV[4], 'JUSTID'}) do table.insert(ids, option) end
  redis.call('XCLAIM', key, group, 'released', 0, unpack(ids))
end
return count`;

/** ARGV: group, ms. Forgets consumers that have nothing pending and have not been heard of for so long. */
export const forgetScript = `
local gone = 0
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #info, 2 do consumer[info[i]] = info[i + 1] end
  if consumer.pending == 0 and consumer.idle > tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    gone = gone + 1
  end
end
return gone`;
