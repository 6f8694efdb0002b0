#pragma once
// Checks that many kinds share.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sim/types/defaults/fill.h"
#include "sim/types/validate/findings.h"

namespace gpuop::sim::types {

/// The member as a number.
std::optional<std::int64_t> NumberAt(const Object& object, std::string_view name);
/// The member as a list; null when it is absent, empty or something else.
const boost::json::array* ListAt(const Object& object, std::string_view name);

/// "must be greater than or equal to 0", for members that are there.
void NotNegative(Findings& out, const Object& object, const Path& at, std::initializer_list<const char*> names);
void PortNumber(Findings& out, std::int64_t port, const Path& at);
/// A number or a name of a port.
void PortReference(Findings& out, const Object& object, std::string_view name, const Path& at);
/// A number that is not negative, or a percentage.
void NumberOrPercent(Findings& out, const boost::json::value& value, const Path& at);
/// At most 100 percent.
void AtMostWhole(Findings& out, const boost::json::value& value, const Path& at);
/// 0, or "0%".
bool IsZeroAmount(const Object& object, std::string_view name);
void CheckLabelMap(Findings& out, const Object* labels, const Path& at);
/// metav1.LabelSelector.
void CheckSelector(Findings& out, const Object& selector, const Path& at);
/// Whether `address` is an IPv4 or IPv6 address.
bool IsIp(std::string_view address);
bool IsCidr(std::string_view block);
void CheckIp(Findings& out, std::string_view address, const Path& at);
void CheckCidr(Findings& out, std::string_view block, const Path& at);
/// The object's `name` differs from `old`'s: "field is immutable".
void Immutable(Findings& out, const Object& now, const Object& old, std::string_view name, const Path& at);

/// Resource names and amounts, requests against limits. `in_container` false: of a runtime class's overhead.
void CheckResources(Findings& out, const Object& resources, const Path& at);
/// Amounts alone, whatever their names: none negative, and whole numbers of extended resources.
void CheckAmounts(Findings& out, const Object& amounts, const Path& at);
void CheckResourceList(Findings& out, const Object& amounts, const Path& at);

}  // namespace gpuop::sim::types
