#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace gpuop::os {

/// A shared library opened at run time. Its absence is a normal state (kUnavailable), not a link error. What Symbol
/// returned is valid while the Library lives.
class Library {
 public:
  /// `name` as dlopen(3) takes it: a path, or a name that the loader looks for. Symbols are found at once and stay
  /// private to this library.
  static Result<Library> Open(const std::string& name);

  /// The function `name` of type F; kUnsupported when the library has none, which with drivers means "too old".
  template <class F>
  Result<F*> Symbol(const std::string& name) const {
    ASSIGN(void* const symbol, Find(name));
    return reinterpret_cast<F*>(symbol);
  }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  Library(std::string name, void* handle) : name_(std::move(name)), handle_(handle) {}
  Result<void*> Find(const std::string& name) const;

  std::string name_;
  std::unique_ptr<void, Close> handle_;
};

}  // namespace gpuop::os
