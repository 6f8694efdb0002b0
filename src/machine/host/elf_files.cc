// Small ELF files, written by the System V ABI's tables (elf(5)).

#include <elf.h>

#include <cstring>

#include "machine/host/render.h"

namespace gpuop::machine {
namespace {

Elf64_Ehdr Header(Elf64_Half type, bool arm) {
  Elf64_Ehdr out{};
  std::memcpy(out.e_ident, ELFMAG, SELFMAG);
  out.e_ident[EI_CLASS] = ELFCLASS64;
  out.e_ident[EI_DATA] = ELFDATA2LSB;
  out.e_ident[EI_VERSION] = EV_CURRENT;
  out.e_type = type;
  out.e_machine = arm ? EM_AARCH64 : EM_X86_64;
  out.e_version = EV_CURRENT;
  out.e_ehsize = sizeof(Elf64_Ehdr);
  return out;
}

template <class T>
void Append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An offset inside a file as an ELF field.
Elf64_Off Offset(const std::string& out) { return out.size(); }

}  // namespace

std::string EmptyLibrary(std::string_view soname, bool arm) {
  // Header, two program headers, the dynamic table, its strings, one empty symbol: all in one readable segment.
  constexpr std::size_t kDynamicAt = sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  constexpr std::size_t kEntries = 6;
  constexpr std::size_t kSymbolsAt = kDynamicAt + kEntries * sizeof(Elf64_Dyn);
  constexpr std::size_t kStringsAt = kSymbolsAt + sizeof(Elf64_Sym);
  const std::string strings = std::string(1, '\0') + std::string(soname) + '\0';
  const std::size_t size = kStringsAt + strings.size();
  Elf64_Ehdr header = Header(ET_DYN, arm);
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr load{}, dynamic{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_W;
  load.p_filesz = load.p_memsz = size;
  load.p_align = 0x10000;
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_flags = PF_R | PF_W;
  dynamic.p_offset = dynamic.p_vaddr = dynamic.p_paddr = kDynamicAt;
  dynamic.p_filesz = dynamic.p_memsz = kEntries * sizeof(Elf64_Dyn);
  dynamic.p_align = 8;
  std::string out;
  Append(out, header);
  Append(out, load);
  Append(out, dynamic);
  for (const auto& [tag, value] : {std::pair<Elf64_Sxword, std::size_t>{DT_SONAME, 1},
                                   {DT_STRTAB, kStringsAt},
                                   {DT_STRSZ, strings.size()},
                                   {DT_SYMTAB, kSymbolsAt},
                                   {DT_SYMENT, sizeof(Elf64_Sym)},
                                   {DT_NULL, 0}}) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    Append(out, entry);
  }
  Append(out, Elf64_Sym{});
  return out + strings;
}

std::string KernelModuleFile(std::string_view name, std::string_view version, std::string_view vermagic,
                             std::string_view license, bool arm) {
  std::string info;
  const auto add = [&](std::string_view key, std::string_view value) {
    info.append(key).append("=").append(value).push_back('\0');
  };
  add("license", license);
  add("version", version);
  add("name", name);
  add("retpoline", "Y");
  add("vermagic", vermagic);
  const std::string names = std::string("\0.modinfo\0.shstrtab\0", 20);
  Elf64_Ehdr header = Header(ET_REL, arm);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr modinfo{}, strings{};
  std::string body(sizeof header, '\0');
  modinfo.sh_name = 1;
  modinfo.sh_type = SHT_PROGBITS;
  modinfo.sh_flags = SHF_ALLOC;
  modinfo.sh_offset = Offset(body);
  modinfo.sh_size = info.size();
  modinfo.sh_addralign = 1;
  body += info;
  strings.sh_name = 10;
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = Offset(body);
  strings.sh_size = names.size();
  strings.sh_addralign = 1;
  body += names;
  body.resize((body.size() + 7) / 8 * 8);
  header.e_shoff = Offset(body);
  Append(body, Elf64_Shdr{});
  Append(body, modinfo);
  Append(body, strings);
  std::memcpy(body.data(), &header, sizeof header);
  return body;
}

}  // namespace gpuop::machine
