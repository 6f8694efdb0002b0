#include "os/library.h"

#include <dlfcn.h>

namespace gpuop::os {

void Library::Close::operator()(void* handle) const { ::dlclose(handle); }

Result<Library> Library::Open(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* words = ::dlerror();
    return Fail(Code::kUnavailable, words != nullptr ? words : name + ": cannot be opened");
  }
  return Library(name, handle);
}

Result<void*> Library::Find(const std::string& name) const {
  void* symbol = ::dlsym(handle_.get(), name.c_str());
  if (symbol == nullptr) return Fail(Code::kUnsupported, name_ + ": no symbol " + name);
  return symbol;
}

}  // namespace gpuop::os
