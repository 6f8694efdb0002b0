#!/usr/bin/env python3
"""Asks a real kube-apiserver how it shows the objects of objects.yaml, and writes one JSON file per resource.

usage: renew.py KUBECONFIG   (an administrator's, with client certificates; the namespace `tables` is used and deleted)
"""
import base64, json, os, re, ssl, sys, time, urllib.error, urllib.request
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Api:
    def __init__(self, kubeconfig):
        config = yaml.safe_load(open(kubeconfig))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server = cluster["server"]
        self.tls = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.headers = {}
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        else:
            self.tls.load_cert_chain(user["client-certificate"], user["client-key"])

    def call(self, method, path, body=None, accept="application/json", kind="application/json"):
        headers = dict(self.headers, Accept=accept)
        headers["Content-Type"] = kind
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, method=method, headers=headers, data=data)
        try:
            with urllib.request.urlopen(request, context=self.tls) as answer:
                return json.loads(answer.read()), answer.headers
        except urllib.error.HTTPError as e:
            status = json.loads(e.read())
            if method != "DELETE" and status.get("reason") != "AlreadyExists":
                sys.exit(f"{method} {path}: {status['message']}")
            return status, {}


def resources(api):
    found = {}
    groups = ["/api/v1"] + ["/apis/" + g["preferredVersion"]["groupVersion"] for g in api.call("GET", "/apis")[0]["groups"]]
    for prefix in groups:
        for r in api.call("GET", prefix)[0]["resources"]:
            if "/" not in r["name"]:
                found[prefix.split("/", 2)[2], r["kind"]] = (prefix, r)
    return found


def collection(prefix, resource, namespace):
    return prefix + (f"/namespaces/{namespace}" if resource["namespaced"] else "") + "/" + resource["name"]


def set_path(obj, path, value):
    for step in path[:-1]:
        obj = obj.setdefault(step, {})
    obj[path[-1]] = value


def ago(match):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - int(match.group(1))))


def main():
    api = Api(sys.argv[1])
    # $AGO(n) stands for the time n seconds ago.
    text = re.sub(r"\$AGO\((-?\d+)\)", ago, open(os.path.join(HERE, "objects.yaml")).read())
    objects = [o for o in yaml.safe_load_all(text) if o]
    api.call("POST", "/api/v1/namespaces", {"metadata": {"name": "tables"}})
    time.sleep(1)
    for crd in [o for o in objects if o["kind"] == "CustomResourceDefinition"]:
        api.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
    time.sleep(2)
    known = resources(api)
    wanted = {}
    for obj in objects:
        key = (obj["apiVersion"], obj["kind"])
        prefix, resource = known[key]
        path = collection(prefix, resource, "tables")
        delete = obj.pop("$delete", False)
        if obj["kind"] != "CustomResourceDefinition":
            made, _ = api.call("POST", path, obj)
            if "status" in obj and made.get("kind") != "Status":
                api.call("PATCH", f"{path}/{obj['metadata']['name']}/status", {"status": obj["status"]},
                         kind="application/merge-patch+json")
            if delete:
                api.call("DELETE", f"{path}/{obj['metadata']['name']}")
        wanted.setdefault(key, (path, resource, []))[2].append(obj["metadata"]["name"])
    for (version, kind), (path, resource, names) in wanted.items():
        write(api, version, kind, path, resource, names)
    clean(api, objects, known)


def write(api, version, kind, path, resource, names):
    out = {"apiVersion": version, "kind": kind, "plural": resource["name"], "columns": None, "rows": []}
    for name in names:
        while True:  # until object and table are of one second and one version
            obj, before = api.call("GET", f"{path}/{name}")
            table, after = api.call("GET", f"{path}/{name}?includeObject=Object", accept=TABLE)
            row = table["rows"][0]
            if before["Date"] == after["Date"] and row["object"]["metadata"]["resourceVersion"] == obj["metadata"]["resourceVersion"]:
                break
        obj["metadata"].pop("managedFields", None)
        out["columns"] = [{k: c[k] for k in ("name", "type", "format", "priority")} for c in table["columnDefinitions"]]
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.strptime(after["Date"], "%a, %d %b %Y %H:%M:%S GMT"))
        expected = {"now": now, "object": obj, "cells": row["cells"]}
        if "conditions" in row:
            expected["conditions"] = row["conditions"]
        out["rows"].append(expected)
    group = version.rpartition("/")[0]
    with open(os.path.join(HERE, f"{kind.lower()}{'.' + group if group else ''}.json"), "w") as f:
        rows = ",\n  ".join(json.dumps(r, sort_keys=True) for r in out.pop("rows"))
        f.write(json.dumps(out, sort_keys=True)[:-1] + ',\n "rows": [\n  ' + rows + "]}\n")


def clean(api, objects, known):
    for obj in reversed(objects):
        prefix, resource = known[obj["apiVersion"], obj["kind"]]
        path = f"{collection(prefix, resource, 'tables')}/{obj['metadata']['name']}"
        if obj["metadata"].get("finalizers"):
            api.call("PATCH", path, {"metadata": {"finalizers": None}}, kind="application/merge-patch+json")
        api.call("DELETE", path, {"gracePeriodSeconds": 0} if obj["kind"] == "Pod" else None)
    api.call("DELETE", "/api/v1/namespaces/tables")


if __name__ == "__main__":
    main()
