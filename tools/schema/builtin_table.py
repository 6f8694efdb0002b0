#!/usr/bin/env python3
"""Writes src/kube/builtin/types.txt: what the built-in Kubernetes types and resources look like.

Facts come from two places that are both authoritative: a running kube-apiserver (its OpenAPI v3 documents and its
discovery) and the struct tags of the Go types of the same version (protobuf numbers, pointers, omitempty). No prose
is copied. The format is described in README.md beside this file.

usage: builtin_table.py --kubectl KUBECTL --kubeconfig FILE --version v0.36.3 > src/kube/builtin/types.txt
"""

import argparse
import json
import re
import subprocess
from pathlib import Path

GROUPS = [
    "api/v1",
    "apis/admissionregistration.k8s.io/v1",
    "apis/apiextensions.k8s.io/v1",
    "apis/apiregistration.k8s.io/v1",
    "apis/apps/v1",
    "apis/authentication.k8s.io/v1",
    "apis/authorization.k8s.io/v1",
    "apis/autoscaling/v1",
    "apis/autoscaling/v2",
    "apis/batch/v1",
    "apis/coordination.k8s.io/v1",
    "apis/discovery.k8s.io/v1",
    "apis/events.k8s.io/v1",
    "apis/networking.k8s.io/v1",
    "apis/node.k8s.io/v1",
    "apis/policy/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/resource.k8s.io/v1",
    "apis/scheduling.k8s.io/v1",
    "apis/storage.k8s.io/v1",
]
MODULES = {  # OpenAPI prefix -> Go module; the rest of the name is the folder in it
    "io.k8s.api.": "k8s.io/api",
    "io.k8s.apimachinery.": "k8s.io/apimachinery",
    "io.k8s.apiextensions-apiserver.": "k8s.io/apiextensions-apiserver",
    "io.k8s.kube-aggregator.": "k8s.io/kube-aggregator",
}
# Types whose JSON form is not their fields': the form's name in the table.
FORMS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intorstring",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "raw",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Patch": "raw",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "json",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "schemaorarray",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "schemaorbool",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "schemaorstrings",
}
REF = "#/components/schemas/"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


class GoTypes:
    """Struct fields by JSON name, read from the tags of a module's types."""

    def __init__(self, version):
        self.dirs = {}
        for module in MODULES.values():
            self.dirs[module] = Path(json.loads(run("go", "mod", "download", "-json", f"{module}@{version}"))["Dir"])
        self.packages = {}

    def fields(self, openapi_name):
        """{json name: (proto, pointer, json tag's options)}; inlined structs are flattened."""
        package, _, name = openapi_name.rpartition(".")
        return self._flatten(package, name)

    def _package(self, package):
        if package not in self.packages:
            prefix = next((p for p in MODULES if package.startswith(p)), None)
            structs = {}
            if prefix:
                folder = self.dirs[MODULES[prefix]] / package[len(prefix):].replace(".", "/")
                for file in sorted(folder.glob("*.go")):
                    if not re.search(r"(_test|zz_generated.*|generated.*)\.go$", file.name):
                        structs.update(self._structs(file.read_text()))
            self.packages[package] = structs
        return self.packages[package]

    @staticmethod
    def _structs(source):
        structs = {}
        for match in re.finditer(r"^type (\w+) struct \{\n(.*?)^\}", source, re.M | re.S):
            structs[match[1]] = re.findall(r"^\t([^/\n`]*?)\s*`([^`\n]*)`", match[2], re.M)
        return structs

    def _flatten(self, package, name):
        out = {}
        for declaration, tags in self._package(package).get(name, []):
            json_tag = re.search(r'json:"([^"]*)"', tags)
            if not json_tag:
                continue
            json_name, *options = json_tag[1].split(",")
            proto_tag = re.search(r'protobuf:"\w+,(\d+)', tags)
            number = proto_tag[1] if proto_tag else "0"
            go_type = declaration.split()[-1]
            if json_name == "" and "inline" in options:
                if go_type.endswith("TypeMeta"):
                    continue
                inner_package, inner = package, go_type.lstrip("*")
                if "." in inner:
                    inner_package = "io.k8s.apimachinery.pkg.apis.meta.v1"
                    inner = inner.split(".")[1]
                for field, (inner_number, pointer, options) in self._flatten(inner_package, inner).items():
                    out[field] = (f"{number}.{inner_number}" if number != "0" else inner_number, pointer, options)
                continue
            out[json_name] = (number, go_type.startswith("*"), options)
        return out


class Table:
    def __init__(self, schemas, go):
        self.schemas = schemas
        self.go = go
        self.out = []

    def ref(self, name, package):
        own, _, short = name.rpartition(".")
        return short if own == package else f"{self.alias[own]}.{short}"

    def type_of(self, s, package):
        if "allOf" in s and len(s["allOf"]) == 1:
            s = {**s, **s["allOf"][0]}
        if "$ref" in s:
            return self.ref(s["$ref"][len(REF):], package)
        kind = s.get("type")
        if kind == "array":
            return "[]" + self.type_of(s["items"], package)
        if kind == "object":
            return "map:" + self.type_of(s["additionalProperties"], package) if "additionalProperties" in s else "object"
        simple = {
            ("string", None): "string", ("string", "byte"): "bytes", ("string", "date-time"): "string",
            ("integer", "int32"): "int32", ("integer", "int64"): "int64", ("number", "double"): "double",
            ("boolean", None): "bool",
        }
        return simple[(kind, s.get("format"))]

    def zero_default_is_implied(self, s, pointer, empty):
        """Whether the document's zero default follows from the Go type: a plain struct, or a scalar always written."""
        ref = self.reference(s)
        if ref:
            return not pointer and self.is_struct(ref)
        return not pointer and not empty and s.get("type") in ("string", "integer", "number", "boolean") and s.get("format") != "byte"

    @staticmethod
    def reference(s):
        ref = s.get("$ref") or (s["allOf"][0]["$ref"] if len(s.get("allOf", [])) == 1 else None)
        return ref and ref[len(REF):]

    def is_struct(self, name):
        return name not in FORMS and self.schemas[name].get("type") == "object"

    def check_items(self, where, s):
        """Element defaults are not written either: plain structs and scalars have them. Fails if that changes."""
        element = s.get("items", s.get("additionalProperties"))
        if not isinstance(element, dict):
            return
        implied = self.zero_default_is_implied(element, False, False)
        if implied != ("default" in element):
            raise SystemExit(f"{where}: element default does not follow from its type")
        self.check_items(where, element)

    def field(self, name, s, required, go, package):
        number, pointer, options = go.get(name, ("0", False, ["omitempty"]))
        by_value = not pointer and self.reference(s) is not None  # omitempty leaves out no struct
        empty = "omitzero" in options or ("omitempty" in options and not by_value)
        flags = ("r" if required else "") + ("p" if pointer else "") + ("" if empty else "a")
        words = [name, number, flags or "-", self.type_of(s, package)]
        zero = "default" in s and s["default"] in ("", 0, False, {})
        if zero != self.zero_default_is_implied(s, pointer, empty):
            words.append("default" if zero else "nodefault")
        if "default" in s and not zero:
            words.append("default=" + json.dumps(s["default"]))
        self.check_items(name, s)
        if "enum" in s:
            words.append("enum=" + ",".join(s["enum"]))
        kind = s.get("x-kubernetes-list-type")
        if kind == "map":
            words.append("keys=" + ",".join(s["x-kubernetes-list-map-keys"]))
        elif kind:
            words.append(kind)
        if s.get("x-kubernetes-map-type"):
            words.append("map=" + s["x-kubernetes-map-type"])
        if s.get("x-kubernetes-patch-strategy"):
            words.append("patch=" + s["x-kubernetes-patch-strategy"])
        if s.get("x-kubernetes-patch-merge-key"):
            words.append("merge=" + s["x-kubernetes-patch-merge-key"])
        return " ".join(words)

    def write_types(self):
        packages = sorted({n.rpartition(".")[0] for n in self.schemas})
        self.alias = {}
        for package in packages:
            parts = package.split(".")
            alias = parts[-2] + parts[-1] if re.fullmatch(r"v\d\w*", parts[-1]) else parts[-1]
            assert alias not in self.alias.values(), alias
            self.alias[package] = alias
            self.out.append(f"@package {alias} {package}")
        for package in packages:
            self.out.append(f"@in {self.alias[package]}")
            for name in sorted(n for n in self.schemas if n.rpartition(".")[0] == package):
                self.write_type(name, package)

    def write_type(self, name, package):
        s = self.schemas[name]
        short = name.rpartition(".")[2]
        if name in FORMS:
            self.out.append(f"@form {short} {FORMS[name]}")
            return
        if s.get("type") != "object":
            self.out.append(f"@form {short} {self.type_of(s, package)}")
            return
        line = f"@type {short}"
        if s.get("x-kubernetes-map-type") == "atomic":
            line += " atomic"
        self.out.append(line)
        for gvk in s.get("x-kubernetes-group-version-kind", []):
            if len(s["x-kubernetes-group-version-kind"]) == 1:
                self.out.append(f"@kind {gvk['group'] or '-'} {gvk['version']} {gvk['kind']}")
        if len(s.get("x-kubernetes-group-version-kind", [])) > 1:
            self.out.append("@kind * * " + s["x-kubernetes-group-version-kind"][0]["kind"])
        go = self.go.fields(name)
        required = set(s.get("required", []))
        missing = [f for f in s.get("properties", {}) if f not in go and f not in ("apiVersion", "kind")]
        if missing:
            raise SystemExit(f"{name}: no struct tag for {missing}")
        for field in sorted(s.get("properties", {})):
            self.out.append(self.field(field, s["properties"][field], field in required, go, package))


def write_resources(out, path, discovery):
    resources = {r["name"]: r for r in discovery["resources"]}
    for name in sorted(n for n in resources if "/" not in n):
        r = resources[name]
        out.append(" ".join([
            "@resource", path, name, r["singularName"], r["kind"], "namespaced" if r["namespaced"] else "cluster",
            ",".join(r["verbs"]), ",".join(r.get("shortNames", [])) or "-", ",".join(r.get("categories", [])) or "-"]))
        for sub in sorted(n for n in resources if n.startswith(name + "/")):
            s = resources[sub]
            where = f"{s.get('group') or '-'} {s['version']}" if "version" in s else "= ="
            out.append(f"@sub {sub.split('/', 1)[1]} {s['kind']} {where} {','.join(s['verbs'])}")
    for sub in sorted(n for n in resources if "/" in n and n.split("/")[0] not in resources):
        raise SystemExit(f"{path}: subresource {sub} has no resource")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--version", required=True, help="of k8s.io/api and its sisters, e.g. v0.36.3")
    args = parser.parse_args()

    def get(path):
        return json.loads(run(args.kubectl, "--kubeconfig", args.kubeconfig, "get", "--raw", "/" + path))

    schemas, discovery = {}, {}
    for group in GROUPS:
        schemas.update(get("openapi/v3/" + group)["components"]["schemas"])
        discovery[group] = get(group)
    table = Table(schemas, GoTypes(args.version))
    table.out += ["# Built-in Kubernetes types and resources; written by tools/schema/builtin_table.py, format in tools/schema/README.md.",
                  f"@version {args.version}"]
    table.write_types()
    for group in GROUPS:
        write_resources(table.out, group, discovery[group])
    print("\n".join(table.out))


if __name__ == "__main__":
    main()
