#include "data/writer.h"
#include "operands/draft.h"

namespace gpuop::operands {
namespace {

Rule PrivilegedConstraints() {
  return {.groups = {"security.openshift.io"},
          .resources = {"securitycontextconstraints"},
          .verbs = {"use"},
          .names = {"privileged"}};
}

}  // namespace

void AddAccount(const Account& account, const Facts& facts, std::vector<Object>& out) {
  out.push_back(ToObject(ServiceAccount{.meta = Named(account.name, facts, account.labels)}));
  std::vector<Rule> rules = account.rules;
  if (facts.openshift.present) rules.push_back(PrivilegedConstraints());
  if (!rules.empty()) {
    const Meta meta = Named(account.name, facts, account.labels);
    out.push_back(ToObject(Role{.meta = meta, .rules = std::move(rules)}));
    out.push_back(ToObject(Binding{.meta = meta, .account = account.name, .account_ns = facts.ns}));
  }
  std::vector<Rule> cluster_rules = account.cluster_rules;
  if (facts.openshift.present && account.reads_openshift_version)
    cluster_rules.push_back(
        {.groups = {"config.openshift.io"}, .resources = {"clusterversions"}, .verbs = {"get", "list"}});
  if (!cluster_rules.empty()) {
    const Meta meta{.name = account.name};
    out.push_back(ToObject(Role{.meta = meta, .rules = std::move(cluster_rules)}));
    out.push_back(ToObject(Binding{.meta = meta, .account = account.name, .account_ns = facts.ns}));
  }
}

void AddConstraints(SecurityConstraints constraints, const Facts& facts, std::vector<Object>& out) {
  if (!facts.openshift.present) return;
  constraints.account_ns = facts.ns;
  if (constraints.meta.name.empty()) constraints.meta.name = constraints.account;
  out.push_back(ToObject(constraints));
}

void AddServiceMonitor(const std::string& name, const std::string& port, const std::string& job_label,
                       const api::ServiceMonitor& settings, const Facts& facts, std::vector<Object>& out) {
  if (!facts.service_monitors) return;
  ServiceMonitor monitor{
      .meta = Named(name, facts, {{"app", name}}), .job_label = job_label, .app = name, .endpoint = {}};
  for (const auto& [key, value] : settings.additional_labels) monitor.meta.labels[key] = value;
  monitor.endpoint = {.port = port,
                      .path = "/metrics",
                      .interval = settings.interval,
                      .scrape_timeout = settings.scrape_timeout,
                      .honor_labels = settings.honor_labels,
                      .relabelings = data::WriteValue(settings.relabelings)};
  out.push_back(ToObject(monitor));
}

}  // namespace gpuop::operands
