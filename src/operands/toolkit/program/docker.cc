#include "operands/toolkit/program/docker.h"

#include "data/json.h"
#include "net/client.h"

namespace gpuop::operands::toolkit {
namespace {

constexpr auto kLimit = std::chrono::seconds(10);
constexpr std::size_t kLongestAnswer = 4U << 20U;
constexpr int kOk = 200;

}  // namespace

Result<EngineStatus> ReadDockerInfo(const std::string& json) {
  ASSIGN(const data::Json info, data::ParseJson(json));
  const data::JsonObject* runtimes = data::GetObject(info, "Runtimes");
  if (runtimes == nullptr) return Fail(Code::kInvalid, "dockerd's answer to GET /info names no Runtimes");
  EngineStatus out;
  out.ready = out.lists_handlers = true;
  for (const auto& member : *runtimes) {
    out.handlers.emplace_back(member.key());
    if (const auto path = data::StringOr(member.value(), "path"); !path.empty()) out.binaries[member.key()] = path;
  }
  out.default_handler = data::StringOr(info, "DefaultRuntime");
  const data::JsonArray* folders = data::GetArray(info, "CDISpecDirs");
  out.cdi = folders != nullptr && !folders->empty();
  return out;
}

Result<EngineStatus> AskDocker(const std::string& socket, std::stop_token stop) {
  ASSIGN(const net::Url url, net::ParseUrl("unix:" + socket));
  net::IoThread io;
  io.Start();
  ASSIGN(const auto client, net::Client::Make(io, url));
  ASSIGN(const net::ClientResponse answer,
         client->Call({.target = "/info", .max_answer_bytes = kLongestAnswer}, kLimit, std::move(stop)));
  if (answer.status != kOk)
    return Fail(Code::kUnavailable,
                "dockerd answers GET /info with " + std::to_string(answer.status) + ": " + answer.body);
  return ReadDockerInfo(answer.body);
}

}  // namespace gpuop::operands::toolkit
