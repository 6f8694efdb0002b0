#!/usr/bin/env python3
"""Records what the real controllers make of the manifests in this folder.

usage: capture.py            (kubectl on PATH, KUBECONFIG of a cluster of etcd, kube-apiserver, kube-controller-manager
                              and kube-scheduler, with no kubelet)
It makes its own namespace and two nodes, plays the kubelet for the pods, and writes rollout.json: the objects as the API
server keeps them (defaults filled in) and, after each step, everything the controllers wrote.
"""
import datetime, json, os, subprocess, time

NS = "controller-fixtures"
HERE = os.path.dirname(os.path.abspath(__file__))


def kubectl(*args, body=None):
    return subprocess.run(["kubectl", *args], input=body, text=True, check=True, capture_output=True).stdout


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def patch_status(kind, name, status, ns=True):
    kubectl(*(["-n", NS] if ns else []), "patch", kind, name, "--subresource=status", "-p", json.dumps({"status": status}))


def condition(type, status):
    return {"type": type, "status": status, "lastTransitionTime": now()}


def play_kubelet(codes):
    """One round: new pods run and are ready, those of jobs end, deleted ones go. True when there was nothing to do."""
    idle = True
    for pod in json.loads(kubectl("-n", NS, "get", "pods", "-o", "json"))["items"]:
        name, status = pod["metadata"]["name"], pod.get("status", {})
        if pod["metadata"].get("deletionTimestamp"):
            if pod["metadata"].get("finalizers") is None:
                kubectl("-n", NS, "delete", "pod", name, "--grace-period=0", "--force", "--ignore-not-found", "--wait=false")
            idle = False
            continue
        if not pod["spec"].get("nodeName") or status.get("phase") != "Pending":
            continue
        idle = False
        code = codes.get(pod["metadata"]["labels"].get("job-name"))
        if code is None:
            patch_status("pod", name, {"phase": "Running", "startTime": now(), "conditions": [
                condition("Ready", "True"), condition("ContainersReady", "True"), condition("Initialized", "True")]})
            continue
        ended = {"terminated": {"exitCode": code, "startedAt": now(), "finishedAt": now()}}
        patch_status("pod", name, {"phase": "Failed" if code else "Succeeded", "startTime": now(), "containerStatuses": [
            {"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": ended}]})
    return idle


def settle(codes, done):
    deadline = time.time() + 90
    while time.time() < deadline:
        if play_kubelet(codes) and done():
            time.sleep(2)
            return
        kubectl("patch", "node", "fixture-0", "--subresource=status", "-p", heartbeat())
        kubectl("patch", "node", "fixture-1", "--subresource=status", "-p", heartbeat())
        time.sleep(0.5)
    raise SystemExit("did not settle")


def heartbeat():
    return json.dumps({"status": {"conditions": [dict(condition("Ready", "True"), lastHeartbeatTime=now(), reason="KubeletReady")]}})


def get(kind):
    return json.loads(kubectl("-n", NS, "get", kind, "-o", "json"))["items"]


def snapshot():
    out = {}
    for kind in ("daemonsets", "deployments", "replicasets", "jobs", "controllerrevisions", "pods"):
        out[kind] = get(kind)
        for item in out[kind]:
            item["metadata"].pop("managedFields", None)
    return out


def stripped(kind):
    objects = get(kind)
    for o in objects:
        o.pop("status", None)
        o["metadata"] = {k: v for k, v in o["metadata"].items() if k in ("name", "labels")}
        if o["kind"] == "Job":  # the API server fills these in anew
            o["spec"].pop("selector", None)
            o["spec"]["template"]["metadata"].pop("labels", None)
            o["metadata"].pop("labels", None)
    return objects


def main():
    for i in range(2):
        kubectl("create", "-f", "-", body=json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {
            "name": f"fixture-{i}", "labels": {"fixture": "true", "gpu": "true", "kubernetes.io/hostname": f"fixture-{i}"}}}))
        room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        patch_status("node", f"fixture-{i}", {"capacity": room, "allocatable": room,
                                             "conditions": [dict(condition("Ready", "True"), lastHeartbeatTime=now())]}, ns=False)
    kubectl("create", "namespace", NS)
    time.sleep(2)
    kubectl("-n", NS, "create", "-f", HERE + "/workloads.yaml")
    codes = {"once": 0, "fails": 1}

    def rolled(generation):
        ds, d = get("daemonsets")[0]["status"], get("deployments")[0]["status"]
        return (ds.get("observedGeneration") == generation and ds.get("updatedNumberScheduled") == 2 == ds.get("numberAvailable")
                and d.get("observedGeneration") == generation and d.get("updatedReplicas") == 3 == d.get("availableReplicas") == d.get("replicas")
                and all(any(c["type"] in ("Complete", "Failed") for c in j["status"].get("conditions", [])) for j in get("jobs")))

    out = {"objects": stripped("daemonsets") + stripped("deployments") + stripped("jobs"), "steps": {}}
    settle(codes, lambda: rolled(1))
    out["steps"]["created"] = snapshot()
    change = json.dumps({"spec": {"template": {"metadata": {"annotations": {"v": "2"}}}}})
    for kind, name in (("daemonset", "plugin"), ("deployment", "web")):
        kubectl("-n", NS, "patch", kind, name, "-p", change)
    settle(codes, lambda: rolled(2))
    out["steps"]["updated"] = snapshot()
    for kind, name in (("daemonset", "plugin"), ("deployment", "web")):
        kubectl("-n", NS, "rollout", "undo", f"{kind}/{name}")
    settle(codes, lambda: rolled(3))
    out["steps"]["undone"] = snapshot()
    with open(HERE + "/rollout.json", "w") as f:
        json.dump(out, f, indent=1, sort_keys=True)
    kubectl("delete", "namespace", NS, "--wait=false")
    kubectl("delete", "node", "fixture-0", "fixture-1")
    for _ in range(20):
        play_kubelet(codes)
        time.sleep(0.3)


main()
