#include "sim/admission/service_addresses.h"

#include <fmt/core.h>

#include <map>
#include <memory>
#include <set>

#include "base/text.h"
#include "data/json_brief.h"
#include "sim/fields.h"

namespace gpuop::sim {

namespace json = boost::json;

namespace {

constexpr std::string_view kTable = "/services";
constexpr std::int64_t kFirstPort = 30000, kLastPort = 32767;
constexpr std::uint64_t kAddresses = 65534;  // of 65,536 without the first and the last

/// "10.96.1.7" as 263; nullopt when it is not one of the range's.
std::optional<std::uint64_t> NumberOf(std::string_view address) {
  const auto parts = Split(address, '.');
  if (parts.size() != 4 || parts[0] != "10" || parts[1] != "96") return std::nullopt;
  const auto high = ParseInt(parts[2]), low = ParseInt(parts[3]);
  if (!high || !low) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(*high * 256 + *low);
  return number >= 1 && number <= kAddresses ? std::optional(number) : std::nullopt;
}

std::string AddressOf(std::uint64_t number) { return fmt::format("10.96.{}.{}", number / 256, number % 256); }

/// What one Service holds.
struct Held {
  std::string address;
  std::set<std::int64_t> ports;
};

Held HeldBy(const json::object& service) {
  Held out{.address = std::string(TextAt(service, "spec.clusterIP")), .ports = {}};
  if (const json::array* ports = ArrayAt(service, "spec.ports"))
    for (const json::value& port : *ports)
      if (const std::int64_t number = data::IntOr(port, "nodePort"); number != 0) out.ports.insert(number);
  return out;
}

/// Who holds what, as the store has it: read once, then kept by what is committed.
class Holders {
 public:
  explicit Holders(Store& store) : store_(store) {
    store.Observe([this](std::string_view table, const Event& event) {
      if (table == kTable && known_) See(event);
    });
  }

  /// Whether a Service other than `self` ("namespace/name") holds it.
  bool Taken(const std::string& address, std::string_view self) { return Other(Known().addresses_, address, self); }
  bool Taken(std::int64_t port, std::string_view self) { return Other(Known().ports_, port, self); }

 private:
  template <class Map>
  static bool Other(const Map& map, const typename Map::key_type& wanted, std::string_view self) {
    const auto it = map.find(wanted);
    return it != map.end() && it->second != self;
  }
  /// Not before somebody asks: a state file is read without events.
  Holders& Known() {
    if (std::exchange(known_, true)) return *this;
    for (const StoredPtr& stored : store_.List(kTable, {}).items) Note(*stored);
    return *this;
  }
  void Note(const Stored& stored) {
    const auto service = data::ParseJsonBriefly(stored.json);
    if (!service) return;
    const std::string key = StoreKey(stored.ns, stored.name);
    Held held = HeldBy(service->as_object());
    if (!held.address.empty()) addresses_[held.address] = key;
    for (const std::int64_t port : held.ports) ports_[port] = key;
    held_[key] = std::move(held);
  }
  void See(const Event& event) {
    if (auto old = held_.extract(StoreKey(event.object->ns, event.object->name)); !old.empty()) {
      addresses_.erase(old.mapped().address);
      for (const std::int64_t port : old.mapped().ports) ports_.erase(port);
    }
    if (event.type != Event::Type::kDeleted) Note(*event.object);
  }

  Store& store_;
  bool known_ = false;
  std::map<std::string, Held, std::less<>> held_;
  std::map<std::string, std::string, std::less<>> addresses_;
  std::map<std::int64_t, std::string> ports_;
};

using Errors = std::vector<FieldError>;

/// Gives one Service what it needs.
class Giving {
 public:
  Giving(Holders& holders, std::string self, const json::object* old, Rng& rng)
      : holders_(holders), self_(std::move(self)), old_(old), rng_(rng) {
    if (old != nullptr) own_ = HeldBy(*old).ports;
  }

  Errors Give(json::object& spec) {
    GiveAddress(spec);
    if (errors_.empty()) GivePorts(spec);
    return std::move(errors_);
  }

 private:
  void GiveAddress(json::object& spec) {
    std::string address(TextAt(spec, "clusterIP"));
    if (address.empty()) {
      do address = AddressOf(1 + rng_.Below(kAddresses));
      while (holders_.Taken(address, ""));
      spec["clusterIP"] = address;
      spec["clusterIPs"] = json::array{address};
      return;
    }
    if (address == "None" || (old_ != nullptr && TextAt(*old_, "spec.clusterIP") == address)) return;
    const char* why = !NumberOf(address)               ? "the provided network does not match the current range"
                      : holders_.Taken(address, self_) ? "provided IP is already allocated"
                                                       : nullptr;
    if (why != nullptr)
      errors_.push_back({FieldError::Kind::kInvalid, "spec.clusterIPs", data::ToJson(json::array{address}),
                         fmt::format("failed to allocate IP {}: {}", address, why)});
  }

  void GivePorts(json::object& spec) {
    const std::string_view type = TextAt(spec, "type");
    const bool balanced =
        type == "LoadBalancer" && data::BoolOr(json::value(spec), "allocateLoadBalancerNodePorts", true);
    if (type != "NodePort" && !balanced) return;
    json::value* ports = spec.if_contains("ports");
    if (ports == nullptr || !ports->is_array()) return;
    for (std::size_t i = 0; i < ports->get_array().size(); ++i)
      if (json::value& port = ports->get_array()[i]; port.is_object())
        GivePort(port.get_object(), ports->get_array(), i);
  }

  void GivePort(json::object& port, const json::array& all, std::size_t index) {
    std::int64_t number = IntAt(port, "nodePort").value_or(0);
    // A new Service has one node port for a port, whatever the protocols (DNS: 53 by TCP and by UDP).
    if (number == 0 && old_ == nullptr) number = SamePort(all, data::IntOr(port, "port"));
    if (number == 0) {
      do number = kFirstPort + static_cast<std::int64_t>(rng_.Below(kLastPort - kFirstPort + 1));
      while (holders_.Taken(number, "") || own_.contains(number));
    } else if (!own_.contains(number)) {
      Check(number, fmt::format("spec.ports[{}].nodePort", index));
    }
    port["nodePort"] = number;
    own_.insert(number);
  }

  static std::int64_t SamePort(const json::array& all, std::int64_t port) {
    for (const json::value& other : all)
      if (data::IntOr(other, "port") == port)
        if (const std::int64_t number = data::IntOr(other, "nodePort"); number != 0) return number;
    return 0;
  }

  void Check(std::int64_t number, const std::string& at) {
    if (number < kFirstPort || number > kLastPort)
      errors_.push_back({FieldError::Kind::kInvalid, at, std::to_string(number),
                         fmt::format("provided port is not in the valid range. The range of valid ports is {}-{}",
                                     kFirstPort, kLastPort)});
    else if (holders_.Taken(number, self_))
      errors_.push_back({FieldError::Kind::kInvalid, at, std::to_string(number), "provided port is already allocated"});
  }

  Holders& holders_;
  const std::string self_;
  const json::object* old_;
  Rng& rng_;
  /// Node ports that it has, or had before.
  std::set<std::int64_t> own_;
  Errors errors_;
};

}  // namespace

void AddServiceAddresses(ApiServer& server) {
  const auto holders = std::make_shared<Holders>(server.store());
  server.AddCheck([&server, holders](Request& request, json::object* object, const json::object* old) -> Answer<> {
    if (object == nullptr || request.resource->table != kTable || request.subresource != nullptr) return {};
    json::object& spec = Child(*object, "spec");
    if (TextAt(spec, "type") == "ExternalName") return {};
    const std::string name(TextAt(*object, "metadata.name"));
    const Errors errors = Giving(*holders, StoreKey(request.ns(), name), old, server.rng()).Give(spec);
    if (errors.empty()) return {};
    return std::unexpected(Invalid(*request.resource, name, errors));
  });
}

}  // namespace gpuop::sim
