-- trim.lua: frees acknowledged stream entries behind the oldest one that is still in flight.

-- How many acknowledged entries may wait behind one long task before the scripts delete singly.
local BEHIND_MAX = 4096

-- `after` is the id that follows the largest entry of this batch; `live` is how many entries of the stream still have an
-- end before them; `entries` are this batch's own ids. Nothing that was not delivered is ever trimmed: with an empty
-- pending list everything below `after` was delivered and has ended.
local function trim(stream, group, after, live, entries)
  local pending = redis.pcall('XPENDING', stream, group)
  if pending.err then
    return
  end
  local oldest = pending[1] > 0 and pending[2] or after
  redis.call('XTRIM', stream, 'MINID', '=', oldest)
  if pending[1] > 0 and redis.call('XLEN', stream) - live > BEHIND_MAX then
    for _, entry in ipairs(entries) do
      redis.call('XDEL', stream, entry)
    end
  end
end
