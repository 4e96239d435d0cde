-- leave.lua: removes a worker from the register, and its consumer if that holds nothing.
-- KEYS: 1 execution (stream) 2 workers (hash) 3 counters (hash)
-- ARGV: 1 wake channel 2 group 3 worker 4 only if its last beat came before this instant in µs, or empty
-- Returns: 1 if it was registered, else 0
-- Errors: none of its own
local beat = redis.call('HGET', KEYS[2], ARGV[3])
if ARGV[4] ~= '' and beat then
  local read, seen = pcall(cjson.decode, beat)
  if read and seen.seen_us and seen.seen_us >= tonumber(ARGV[4]) then
    return 0
  end
end
local removed = redis.call('HDEL', KEYS[2], ARGV[3])
local pending = redis.pcall('XPENDING', KEYS[1], ARGV[2], '-', '+', 1, ARGV[3])
if not pending.err and #pending == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[2], ARGV[3])
end
if removed == 1 then
  redis.call('PUBLISH', ARGV[1], 'workers ' .. redis.call('HINCRBY', KEYS[3], 'worker_changes', 1))
end
return removed
