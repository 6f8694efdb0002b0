#include <algorithm>

#include "base/text.h"
#include "operands/nfd/sources/cpuid.h"
#include "operands/nfd/sources/source.h"

namespace gpuop::operands::nfd {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";

bool IsYes(const std::optional<std::string>& text) { return text == "Y" || text == "1"; }

/// The processor's folders: cpu0, cpu1, …
std::vector<std::string> CpuFolders(const Host& host) {
  std::vector<std::string> out;
  for (const std::string& name : host.List(kCpus))
    if (name.starts_with("cpu") && ParseInt(name.substr(3))) out.push_back(std::string(kCpus) + "/" + name);
  return out;
}

/// What arm64 kernels call features in /proc/cpuinfo, in capitals.
void AddArmFlags(const Host& host, TextSet& flags) {
  const auto text = host.Read("/proc/cpuinfo");
  if (!text) return;
  for (const std::string_view line : Split(*text, '\n')) {
    if (!line.starts_with("Features")) continue;
    const auto cut = Cut(line, ':');
    for (const std::string_view word : Split(cut ? cut->second : "", ' ')) {
      std::string name(word);
      for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
      if (!name.empty()) flags.insert(std::move(name));
    }
    return;
  }
}

void PutCpuid(const CpuidFacts& facts, const Question& question, Found& out) {
  TextSet& flags = out.features.flags["cpu.cpuid"] = facts.flags;
  if (facts.vendor.empty()) AddArmFlags(question.host, flags);
  if (!facts.attributes.empty()) out.features.attributes["cpu.cpuid"] = facts.attributes;
  const SourceSettings::Cpu& settings = question.settings.cpu;
  const auto wanted = [&](const std::string& flag) {
    if (!settings.whitelist.empty()) return std::ranges::find(settings.whitelist, flag) != settings.whitelist.end();
    return std::ranges::find(settings.blacklist, flag) == settings.blacklist.end();
  };
  for (const std::string& flag : flags)
    if (wanted(flag)) out.labels["cpuid." + flag] = "true";
  for (const auto& [name, value] : facts.attributes)
    if (wanted(name)) out.labels["cpuid." + name] = value;
}

void PutModel(const CpuidFacts& facts, Found& out) {
  TextMap& model = out.features.attributes["cpu.model"];
  if (facts.vendor.empty()) return;
  model = {{"vendor_id", facts.vendor}, {"family", std::to_string(facts.family)}, {"id", std::to_string(facts.model)}};
  if (!facts.hypervisor.empty()) model["hypervisor"] = facts.hypervisor;
  for (const auto& [name, value] : model) out.labels["model." + name] = value;
}

void PutPower(const Host& host, const CpuidFacts& facts, Found& out) {
  TextMap& idle = out.features.attributes["cpu.cstate"];
  if (facts.vendor == "Intel" && host.Line(std::string(kCpus) + "/cpuidle/current_driver") == "intel_idle")
    if (const auto most = host.Number("/sys/module/intel_idle/parameters/max_cstate")) {
      idle["enabled"] = *most > 0 ? "true" : "false";
      if (*most > 0) out.labels["cstate.enabled"] = "true";
    }
  TextMap& frequency = out.features.attributes["cpu.pstate"];
  const std::string at = std::string(kCpus) + "/intel_pstate";
  if (const auto status = host.Line(at + "/status"); status && facts.vendor == "Intel") {
    frequency["status"] = *status;
    if (*status != "off") {
      if (const auto no_turbo = host.Line(at + "/no_turbo")) frequency["turbo"] = *no_turbo == "0" ? "true" : "false";
      std::set<std::string> governors;
      for (const std::string& policy : host.List(std::string(kCpus) + "/cpufreq"))
        if (const auto line = host.Line(std::string(kCpus) + "/cpufreq/" + policy + "/scaling_governor"))
          governors.insert(*line);
      if (governors.size() == 1) frequency["scaling_governor"] = *governors.begin();
    }
  }
  for (const auto& [name, value] : frequency)
    if (value != "false") out.labels["pstate." + name] = value;
  TextMap& speed = out.features.attributes["cpu.sst"];
  std::set<std::string> base;
  for (const std::string& cpu : CpuFolders(host))
    if (const auto line = host.Line(cpu + "/cpufreq/base_frequency")) base.insert(*line);
  if (base.empty()) return;
  speed["bf.enabled"] = base.size() > 1 ? "true" : "false";
  if (base.size() > 1) out.labels["power.sst_bf.enabled"] = "true";
}

/// How many keys a resource of the misc control group has in all.
std::optional<std::string> Capacity(const Host& host, std::string_view resource) {
  const auto text = host.Read("/sys/fs/cgroup/misc.capacity");
  if (!text) return std::nullopt;
  for (const std::string_view line : Split(*text, '\n'))
    if (const auto cut = Cut(Trim(line), ' '); cut && cut->first == resource) return std::string(cut->second);
  return std::nullopt;
}

void PutSecurity(const Host& host, const CpuidFacts& facts, Found& out) {
  TextMap& security = out.features.attributes["cpu.security"];
  const auto parameter = [&](const char* module, const char* name) {
    return IsYes(host.Line(std::string("/sys/module/") + module + "/parameters/" + name));
  };
  if (facts.sgx) security["sgx.enabled"] = "true";
  if (parameter("kvm_intel", "tdx")) {
    security["tdx.enabled"] = "true";
    if (const auto keys = Capacity(host, "tdx")) security["tdx.total_keys"] = *keys;
  }
  if (facts.flags.contains("TDX_GUEST")) security["tdx.protected"] = "true";
  if (parameter("kvm_amd", "sev")) {
    security["sev.enabled"] = "true";
    if (const auto ids = Capacity(host, "sev")) security["sev.asids"] = *ids;
    if (const auto ids = Capacity(host, "sev_es")) security["sev.encrypted_state_ids"] = *ids;
  }
  if (parameter("kvm_amd", "sev_es")) security["sev.es.enabled"] = "true";
  if (parameter("kvm_amd", "sev_snp")) security["sev.snp.enabled"] = "true";
  for (const auto& [name, value] : security)
    if (value == "true") out.labels["security." + name] = value;
}

void PutTopology(const Host& host, Found& out) {
  TextMap& topology = out.features.attributes["cpu.topology"];
  std::set<std::string> sockets;
  bool threads = false;
  for (const std::string& cpu : CpuFolders(host)) {
    if (const auto socket = host.Line(cpu + "/topology/physical_package_id")) sockets.insert(*socket);
    const auto siblings = host.Line(cpu + "/topology/thread_siblings_list");
    threads = threads || (siblings && siblings->find_first_of(",-") != siblings->npos);
  }
  if (!sockets.empty()) topology["socket_count"] = std::to_string(sockets.size());
  topology["hardware_multithreading"] = threads ? "true" : "false";
  out.labels["hardware_multithreading"] = topology["hardware_multithreading"];
}

}  // namespace

Found FindCpu(const Question& question) {
  const CpuidFacts facts = ReadCpuid(CpuidSource::OfThisCpu());
  Found out;
  PutCpuid(facts, question, out);
  PutModel(facts, out);
  PutPower(question.host, facts, out);
  out.features.attributes["cpu.rdt"] = facts.resource_control;
  PutSecurity(question.host, facts, out);
  PutTopology(question.host, out);
  TextMap& coprocessor = out.features.attributes["cpu.coprocessor"];
  if (question.host.Exists("/sys/devices/vio/ibm,compression-v1")) {
    coprocessor["nx_gzip"] = "true";
    out.labels["coprocessor.nx_gzip"] = "true";
  }
  return out;
}

}  // namespace gpuop::operands::nfd
