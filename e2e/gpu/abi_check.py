"""Writes C++ that compiles only if our declarations of NVML and CUDA are those of NVIDIA's headers.

Our headers say on each enumerator, constant and struct what it is called there; functions have its name. From that come
assertions of values, sizes, places of fields and shapes of parameters.
"""

import re
from pathlib import Path

SHAPES = """
#include <cstddef>
#include <type_traits>

// Whether two parameters are passed alike: numbers of one size and kind, or pointers to such, or to structs of one size.
template <class T>
constexpr bool kNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept Complete = requires { sizeof(T); };
template <class A, class B>
constexpr bool Alike() {
  using P = std::remove_cv_t<A>;
  using Q = std::remove_cv_t<B>;
  if constexpr (std::is_pointer_v<P> && std::is_pointer_v<Q>) {
    using X = std::remove_pointer_t<P>;
    using Y = std::remove_pointer_t<Q>;
    if constexpr (std::is_const_v<X> != std::is_const_v<Y>) return false;
    else if constexpr (std::is_void_v<X> || std::is_void_v<Y>) return std::is_void_v<X> && std::is_void_v<Y>;
    else if constexpr (!Complete<X> || !Complete<Y>) return !Complete<X> && !Complete<Y>;  // handles
    else return Alike<X, Y>();
  } else if constexpr (kNumber<P> && kNumber<Q>) {
    return sizeof(P) == sizeof(Q) && std::is_floating_point_v<P> == std::is_floating_point_v<Q>;
  } else {
    return std::is_class_v<P> == std::is_class_v<Q> && std::is_union_v<P> == std::is_union_v<Q> &&
           sizeof(P) == sizeof(Q) && alignof(P) == alignof(Q);
  }
}
template <class F, class G>
struct Same : std::false_type {};
template <class R, class... P, class S, class... Q>
  requires(sizeof...(P) == sizeof...(Q))
struct Same<R (*)(P...), S (*)(Q...)> : std::bool_constant<sizeof(R) == sizeof(S) && (Alike<P, Q>() && ...)> {};
"""


def assertion(condition: str, what: str) -> str:
    return f'static_assert({condition}, "{what}");\n'


def enumerators(text: str, scope: str) -> tuple[str, int]:
    """Of every enum in `text`; an enumerator without a name of the other side is a mistake."""
    out, count = "", 0
    for name, body in re.findall(r"enum(?: class)? ?(\w*) ?: unsigned(?: long long)? \{(.*?)\};", text, re.S):
        entries = re.findall(r"(k\w+) =\s+(\w+),\s*// ((?:NVML_|nvml|CUDA_|CU_)\w+)", body)
        if len(entries) != len(re.findall(r"\bk\w+ =", body)):
            raise ValueError(f"an enumerator of {name or 'an enum'} does not say what it is called there: {body}")
        prefix = f"{scope}::{name}::" if name else f"{scope}::"
        for ours, _, theirs in entries:
            out += assertion(f"static_cast<unsigned long long>({prefix}{ours}) == "
                             f"({theirs} < 0 ? 0xffffffffull : static_cast<unsigned long long>({theirs}))", theirs)
            count += 1
    return out, count


def structs(text: str, scope: str, mark: str) -> tuple[str, int]:
    """Size, alignment and the place of every field."""
    out, count = "", 0
    pattern = rf"/// ({mark}\w+)[:.][^\n]*\n(?:///[^\n]*\n)*(?:struct|union) (\w+) \{{\n(.*?)\n\}};"
    for theirs, ours, body in re.findall(pattern, text, re.S):
        mine = f"{scope}::{ours}"
        out += assertion(f"sizeof({mine}) == sizeof({theirs}) && alignof({mine}) == alignof({theirs})", theirs)
        flat = re.sub(r"(struct|union) \{.*?\} (\w+)", r"nested \2", body, flags=re.S)
        for field in re.findall(r"(\w+)(?:\[[^;]*\])?;", flat):
            out += assertion(f"offsetof({mine}, {field}) == offsetof({theirs}, {field}) && "
                             f"sizeof({mine}::{field}) == sizeof({theirs}::{field})", f"{theirs}.{field}")
        count += 1
    if count != len(re.findall(r"^(?:struct|union) \w+ \{", text, re.M)):
        raise ValueError("a struct does not say what it is called there")
    return out, count


def functions(text: str, scope: str, mark: str) -> tuple[str, int]:
    names = re.findall(r"^\s*X\((\w+)", text, re.M)
    out = "".join(assertion(f"Same<decltype(&{mark}{n}), decltype({scope}::Functions::{n})>::value", f"{mark}{n}")
                  for n in names)
    return out, len(names)


def nvml(src: Path) -> tuple[str, dict[str, int]]:
    folder = src / "gpu/nvml"
    scope = "gpuop::gpu::nvml"
    out = "#define NVML_NO_UNVERSIONED_FUNC_DEFS\n#include <nvml.h>\n" + SHAPES + '#include "gpu/nvml/table.h"\n'
    counts = {}
    enums = "".join((folder / f"{n}.h").read_text() for n in ("types", "constants", "field_ids", "gpm_ids"))
    text, counts["enumerators"] = enumerators(enums, scope)
    out += text
    all_structs = "".join((folder / f"{n}.h").read_text() for n in ("device_structs", "mig_structs", "sample_structs"))
    text, counts["structs"] = structs(all_structs, scope, "nvml")
    out += text
    versions = re.findall(r"constexpr unsigned (kVersionOf\w+) =.*?;\s*// (nvml\w+)",
                          (folder / "structs.h").read_text(), re.S)
    counts["versions"] = len(versions)
    out += "".join(assertion(f"{scope}::{ours} == {theirs}", theirs) for ours, theirs in versions)
    text, counts["functions"] = functions((folder / "functions.h").read_text(), scope, "nvml")
    return out + text, counts


def cuda(src: Path) -> tuple[str, dict[str, int]]:
    scope = "gpuop::gpu::cuda"
    text = (src / "gpu/cuda_abi.h").read_text()
    out = "#include <cuda.h>\n" + SHAPES + '#include "gpu/cuda_abi.h"\n'
    counts = {}
    part, counts["enumerators"] = enumerators(text, scope)
    out += part
    out += assertion(f"sizeof({scope}::Uuid) == sizeof(CUuuid)", "CUuuid")
    out += assertion(f"sizeof({scope}::DevicePtr) == sizeof(CUdeviceptr)", "CUdeviceptr")
    part, counts["functions"] = functions(text, scope, "cu")
    return out + part, counts
