#include "operands/status_server.h"

namespace gpuop::operands {
namespace {

net::Response Text(int status, std::string text, std::string_view type = "text/plain; charset=utf-8") {
  net::Response out;
  out.status = status;
  out.headers.Add("Content-Type", std::string(type));
  out.body = net::MakeBody(std::move(text));
  return out;
}

}  // namespace

Result<std::unique_ptr<net::Server>> ServeStatus(net::IoThread& io, const std::string& address,
                                                 const MetricRegistry& metrics, Ailment ailment) {
  auto server = std::make_unique<net::Server>(
      io, [&metrics, ailment = std::move(ailment)](const net::Request& request, net::Responder answer) {
        if (request.Path() == "/metrics") return answer.Send(Text(200, metrics.Text(), MetricRegistry::kContentType));
        if (request.Path() != "/healthz") return answer.Send(Text(404, "there are /healthz and /metrics\n"));
        const std::string what = ailment();
        answer.Send(what.empty() ? Text(200, "ok") : Text(503, what + "\n"));
      });
  TRY(server->Listen(address));
  return server;
}

}  // namespace gpuop::operands
