#pragma once
// Columns and rows of the built-in kinds that people look at.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>
#include <string_view>

#include "base/clock.h"

namespace gpuop::sim {

/// Appends one object's cells in the order of its kind's columns.
using CellWriter = void (*)(const boost::json::object& object, WallTime now, boost::json::array& cells);

/// How one kind is shown.
struct KindTable {
  std::string_view group, kind;
  /// "Name:string:name|Node:string::1": name, type, and where they are not empty and 0, format and priority.
  std::string_view columns;
  CellWriter cells;
};

/// Pods, nodes, and what makes pods.
std::span<const KindTable> WorkloadTables();
/// Namespaces, configuration, storage, classes, events, leases.
std::span<const KindTable> ClusterTables();
/// Services, endpoints, ingresses.
std::span<const KindTable> NetworkTables();
/// Roles, bindings, budgets, admission, custom resource definitions.
std::span<const KindTable> PolicyTables();

/// The kind's entry among all of them, or null.
const KindTable* FindKindTable(std::string_view group, std::string_view kind);

/// A Pod's cells, which need a file of their own.
void PodCells(const boost::json::object& pod, WallTime now, boost::json::array& cells);

/// A HorizontalPodAutoscaler's.
void AutoscalerCells(const boost::json::object& autoscaler, WallTime now, boost::json::array& cells);

/// The names or images of a pod template's containers, joined by commas.
std::string ContainerNames(const boost::json::object& pod_spec);
std::string ContainerImages(const boost::json::object& pod_spec);

}  // namespace gpuop::sim
