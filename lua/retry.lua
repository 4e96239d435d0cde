-- retry.lua: ends attempts that did not complete; each goes back to pending at its rank, to delayed, or to the dead letters, once.
-- KEYS: 1 execution (stream) 2 tasks (hash) 3 pending (zset) 4 delayed (zset) 5 dead (stream) 6 counters (hash) 7 returned (list) 8 done, current bucket (set)
-- ARGV: 1 wake channel 2 group 3 life of the done bucket in ms, 0 for ever 4 number of attempts; from 5, eight for each: entry, id, least idle in ms or -1, "1" if the handler failed, "1" if the attempt is spent, fate (pending delayed dead), then score and member, due and text, or letter and raw
-- Returns: places (from 0) of those that were not live any more or not idle enough
-- Errors: none of its own
-- A full store refuses here, before anything has moved: commands that free memory would still run and tear the move.
redis.call('HINCRBY', KEYS[6], 'retried', 0)
local stale, entries, freed = {}, {}, 0
local retried, interrupted, dead, failed = 0, 0, 0, 0
for i = 1, tonumber(ARGV[4]) do
  local entry, id, idle, handler_failed, spent, fate, first, second = unpack(ARGV, 8 * i - 3, 8 * i + 4)
  local live = true
  if idle ~= '-1' then
    local pending = redis.pcall('XPENDING', KEYS[1], ARGV[2], 'IDLE', idle, entry, entry, 1)
    live = not pending.err and #pending == 1
  end
  if not live or redis.call('XACK', KEYS[1], ARGV[2], entry) == 0 then
    stale[#stale + 1] = i - 1
  else
    freed = freed + 1
    entries[#entries + 1] = entry
    -- A task without a record was completed by an attempt that had been given up: there is nothing to retry.
    if redis.call('HEXISTS', KEYS[2], id) == 1 then
      if handler_failed == '1' then
        failed = failed + 1
      end
      if fate == 'dead' then
        redis.call('HDEL', KEYS[2], id)
        redis.call('SADD', KEYS[8], id)
        redis.call('XADD', KEYS[5], '*', 'letter', first, 'task', second)
        dead = dead + 1
      else
        if fate == 'pending' then
          redis.call('ZADD', KEYS[3], first, second)
          redis.call('RPUSH', KEYS[7], first .. '\30' .. second)
        else
          redis.call('ZADD', KEYS[4], first, second)
        end
        if spent == '1' then
          retried = retried + 1
        else
          interrupted = interrupted + 1
        end
      end
    end
  end
end

if dead > 0 and ARGV[3] ~= '0' then
  redis.call('PEXPIRE', KEYS[8], ARGV[3])
end
for name, count in pairs({ dead = dead, handler_failed = failed }) do
  if count > 0 then
    redis.call('HINCRBY', KEYS[6], name, count)
  end
end
-- First what was returned, then the free slot: the leader must not fill it before it knows who may rank first.
if retried + interrupted > 0 then
  local again = redis.call('HINCRBY', KEYS[6], 'retried', retried)
    + redis.call('HINCRBY', KEYS[6], 'interrupted', interrupted)
  redis.call('PUBLISH', ARGV[1], 'returned ' .. again)
end
if freed > 0 then
  local total = redis.call('HINCRBY', KEYS[6], 'freed', freed)
  trim(KEYS[1], ARGV[2], (redis.call('HGET', KEYS[6], 'dispatched') or 0) - total, entries)
  redis.call('PUBLISH', ARGV[1], 'freed ' .. total)
end
return stale
