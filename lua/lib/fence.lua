-- fence.lua: the only copy of the fence rule; every script of the leader calls it before anything else.

-- Returns nothing when `epoch` may write (and raises the fence to it), else the error to return. Epoch 0: no election.
local function fenced(fence_key, epoch)
  if epoch == '0' then
    return nil
  end
  local fence = redis.call('GET', fence_key) or '0'
  local mine, highest = tonumber(epoch), tonumber(fence) or 0
  if mine < highest then
    return redis.error_reply('TQ_FENCED ' .. epoch .. ' ' .. fence)
  end
  if mine > highest then
    redis.call('SET', fence_key, epoch)
  end
  return nil
end
