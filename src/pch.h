#pragma once
// Precompiled for every room: what nearly every file includes anyway.
#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
