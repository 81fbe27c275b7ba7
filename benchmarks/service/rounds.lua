-- For wrk: rounds on some streams; the loss of a prediction is reported 200 predictions later,
-- when its response has arrived, on whatever connection is free.
local LAG = 200
local JSON = {["Content-Type"] = "application/json"}
-- The first request is a test that wrk does not send: its prediction gets no loss.
local names, waiting, first, last, count, run = {}, {}, 2, 0, 0, ""

function init(args)
  for name in string.gmatch(args[1], "[^,]+") do names[#names + 1] = name end
  run = args[2]
  math.randomseed(tonumber(args[3]))
end

local function predict()
  last = last + 1
  local name, id = names[math.random(#names)], run .. "-" .. last
  waiting[last] = {name, id}
  local body = string.format('{"x":[%.3f,%.3f],"id":"%s"}', math.random(), math.random(), id)
  return wrk.format("POST", "/v1/streams/" .. name .. "/predict", JSON, body)
end

local function feedback()
  local name, id = waiting[first][1], waiting[first][2]
  waiting[first] = nil
  first = first + 1
  local path = "/v1/streams/" .. name .. "/predictions/" .. id .. "/feedback"
  return wrk.format("PUT", path, JSON, math.random() < 0.1 and '{"loss":1}' or '{"loss":0}')
end

function request()
  count = count + 1
  if count % 2 == 0 and last - first > LAG then return feedback() end
  return predict()
end
