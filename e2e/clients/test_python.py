"""The official Python client on both servers."""
import threading

import pytest
from kubernetes import client, config, watch


@pytest.fixture(params=['embedded', 'real'])
def api(request):
    server = request.getfixturevalue(request.param)
    if server is None:
        pytest.skip('no real control plane here: Go is missing')
    return config.new_client_from_config(server.kubeconfig)


def test_objects_live_through_the_client(api):
    core = client.CoreV1Api(api)
    core.create_namespace({'metadata': {'name': 'python-client'}})
    try:
        made = core.create_namespaced_config_map('python-client', {'metadata': {'name': 'a'}, 'data': {'k': 'v'}})
        assert made.metadata.uid and made.metadata.creation_timestamp
        patched = core.patch_namespaced_config_map('a', 'python-client', {'data': {'k': 'w'}})
        assert patched.data == {'k': 'w'}
        made.data = {'k': 'x'}
        with pytest.raises(client.ApiException) as conflict:
            core.replace_namespaced_config_map('a', 'python-client', made)
        assert conflict.value.status == 409
        listed = core.list_namespaced_config_map('python-client', field_selector='metadata.name=a')
        assert [m.metadata.name for m in listed.items] == ['a']
        core.delete_namespaced_config_map('a', 'python-client')
        with pytest.raises(client.ApiException) as gone:
            core.read_namespaced_config_map('a', 'python-client')
        assert gone.value.status == 404
    finally:
        core.delete_namespace('python-client')


def test_watch_sees_what_happens(api):
    core = client.CoreV1Api(api)
    core.create_namespace({'metadata': {'name': 'python-watch'}})
    try:
        start = core.list_namespaced_config_map('python-watch').metadata.resource_version

        def act():
            core.create_namespaced_config_map('python-watch', {'metadata': {'name': 'w'}})
            core.patch_namespaced_config_map('w', 'python-watch', {'data': {'a': 'b'}})
            core.delete_namespaced_config_map('w', 'python-watch')
        actor = threading.Thread(target=act)
        actor.start()
        seen = []
        for event in watch.Watch().stream(core.list_namespaced_config_map, 'python-watch', resource_version=start, timeout_seconds=60):
            if event['object'].metadata.name == 'w':
                seen.append(event['type'])
            if len(seen) == 3:
                break
        actor.join()
        assert seen == ['ADDED', 'MODIFIED', 'DELETED']
    finally:
        core.delete_namespace('python-watch')


def test_nodes_are_typed(api):
    nodes = client.CoreV1Api(api).list_node().items
    assert len(nodes) == 3
    for node in nodes:
        assert {c.type for c in node.status.conditions} >= {'Ready'}
        assert node.status.node_info.kubelet_version


def test_custom_objects(api):
    extensions = client.ApiextensionsV1Api(api)
    custom = client.CustomObjectsApi(api)
    extensions.create_custom_resource_definition({
        'metadata': {'name': 'pies.python.example'},
        'spec': {'group': 'python.example', 'scope': 'Cluster', 'names': {'plural': 'pies', 'kind': 'Pie'},
                 'versions': [{'name': 'v1', 'served': True, 'storage': True,
                               'schema': {'openAPIV3Schema': {'type': 'object', 'properties': {'spec': {'type': 'object', 'properties': {'n': {'type': 'integer'}}}}}}}]}})
    try:
        body = {'apiVersion': 'python.example/v1', 'kind': 'Pie', 'metadata': {'name': 'p'}, 'spec': {'n': 1}}
        for _ in range(200):
            try:
                custom.create_cluster_custom_object('python.example', 'v1', 'pies', body)
                break
            except client.ApiException as e:
                assert e.status == 404, e
        body['spec']['n'] = 'many'
        with pytest.raises(client.ApiException) as refused:
            custom.patch_cluster_custom_object('python.example', 'v1', 'pies', 'p', {'spec': {'n': 'many'}})
        assert refused.value.status == 422 and 'spec.n' in refused.value.body
    finally:
        extensions.delete_custom_resource_definition('pies.python.example')
