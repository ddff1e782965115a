-- What one would write with nginx and lua-cjson instead of Holdfast: KubeRay sees what it declared, and a PUT of
-- KubeRay carries along what it did not declare. One worker, so that its variables are the only memory needed.
--
-- It is as fast as this can be made, and not safe. lua-cjson has one kind of table and one kind of number:
--   []  becomes {}            (Ray refuses `"deployments": {}` with 400)
--   1.0 becomes 1             (another rebuild hash: all replicas of the application restart)
--   12345678901234567890 becomes 1.2345678901235e+19, and 1796081197.3589392 becomes 1796081197.3589
-- It keeps no state over a restart, takes an empty list from a recovering controller for the truth, and two PUTs at
-- the same time overwrite one another.
local cjson = require("cjson.safe")

local serve = {}
local declared, declared_before = {}, {}

local function refuse(status, reason)
  ngx.status = status
  ngx.say(reason)
end

local function running()
  local answer = ngx.location.capture("/ray/api/serve/applications/", { method = ngx.HTTP_GET })
  return answer, answer.status == 200 and cjson.decode(answer.body)
end

local function pass(answer, body)
  ngx.status = answer.status
  ngx.header["Content-Type"] = answer.header["Content-Type"]
  ngx.header["Content-Length"] = #body
  ngx.print(body)
end

local function get()
  local answer, state = running()
  if not state then
    return pass(answer, answer.body)
  end
  for name in pairs(state.applications) do
    if not declared[name] then
      state.applications[name] = nil
    end
  end
  pass(answer, cjson.encode(state))
end

local function put()
  ngx.req.read_body()
  local config = cjson.decode(ngx.req.get_body_data())
  if not config then
    return refuse(400, "not JSON")
  end
  local now = {}
  for _, application in ipairs(config.applications) do
    now[application.name] = true
  end
  local _, state = running()
  if not state then
    return refuse(503, "Ray did not say what runs")
  end
  for name, application in pairs(state.applications) do
    if not now[name] and not declared_before[name] and application.deployed_app_config ~= cjson.null then
      config.applications[#config.applications + 1] = application.deployed_app_config
    end
  end
  local answer = ngx.location.capture(
    "/ray/api/serve/applications/",
    { method = ngx.HTTP_PUT, body = cjson.encode(config) }
  )
  if answer.status == 200 then
    declared = now
    for name in pairs(now) do
      declared_before[name] = true
    end
  end
  pass(answer, answer.body)
end

function serve.answer()
  if ngx.req.get_method() == "PUT" then
    return put()
  end
  return get()
end

return serve
