-- trim.lua: frees acknowledged stream entries behind the oldest one that is still in flight.

-- How many acknowledged entries may wait behind one long task before the scripts delete singly.
local BEHIND_MAX = 4096

-- The id that follows the last entry that was delivered to the group.
local function after_delivered(stream, group)
  for _, info in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    if info[2] == group then
      local ms, seq = string.match(info[8], '^(%d+)-(%d+)$')
      return ms .. '-' .. string.format('%.0f', tonumber(seq) + 1)
    end
  end
end

-- `live` is how many entries of the stream still have an end before them; `entries` are this batch's own ids. Nothing that
-- was not delivered is ever trimmed: with an empty pending list, everything that was delivered has ended.
local function trim(stream, group, live, entries)
  local pending = redis.pcall('XPENDING', stream, group)
  if pending.err then
    return
  end
  redis.call('XTRIM', stream, 'MINID', '=', pending[1] > 0 and pending[2] or after_delivered(stream, group))
  if pending[1] > 0 and redis.call('XLEN', stream) - live > BEHIND_MAX then
    for _, entry in ipairs(entries) do
      redis.call('XDEL', stream, entry)
    end
  end
end
