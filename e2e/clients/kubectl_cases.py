"""What people type. Each case is a list of commands; `!` before one says that it must fail.

A command is (arguments, input). Every case runs in a namespace of its own, which NAMESPACE in a command stands for.
"""

CONFIGMAP = '''
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: demo}}
data: {colour: red, size: "3"}
'''
CONFIGMAP_CHANGED = CONFIGMAP.replace('red', 'green')
DEPLOYMENT = '''
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: "registry.test/web:1"}]
'''
DAEMONSET = '''
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: main, image: "registry.test/agent:1"}]
'''
JOB = '''
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.test/once:1"}]
'''
CRD = '''
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.clients.example}
spec:
  group: clients.example
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            description: What the gadget should be.
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How large it is.}
              colour: {type: string, enum: [red, green], default: red}
'''
GADGET = '''
apiVersion: clients.example/v1
kind: Gadget
metadata: {name: one}
spec: {size: 2}
'''

CASES = {
    'basics': [
        ('create -f -', CONFIGMAP),
        ('get cm settings', ''),
        ('get cm settings -o wide --show-labels', ''),
        ('get cm settings -o yaml', ''),
        ('get cm settings -o json', ''),
        ('get cm settings -o jsonpath={.data.colour}', ''),
        ('get cm settings -o name', ''),
        ('get cm -l app=demo -o custom-columns=N:.metadata.name,C:.data.colour', ''),
        ('!create -f -', CONFIGMAP),
        ('!get cm absent', ''),
        ('get cm absent --ignore-not-found', ''),
        ('!get nosuchthing', ''),
        ('patch cm settings --type=merge -p {"data":{"size":null}}', ''),
        ('describe cm settings', ''),  # of one key: kubectl before 1.31 describes several in no fixed order
        ('delete cm settings', ''),
        ('!delete cm settings', ''),
    ],
    'apply-client-side': [
        ('apply -f -', CONFIGMAP),
        ('apply -f -', CONFIGMAP),
        ('!diff -f -', CONFIGMAP_CHANGED),
        ('apply -f -', CONFIGMAP_CHANGED),
        ('diff -f -', CONFIGMAP_CHANGED),
        ('get cm settings -o jsonpath={.data}', ''),
        ('apply -f - --dry-run=server', CONFIGMAP),
        ('apply -f - --dry-run=client', CONFIGMAP),
        ('get cm settings -o jsonpath={.data.colour}', ''),
        ('apply view-last-applied cm settings', ''),
        ('delete -f -', CONFIGMAP),
    ],
    'apply-server-side': [
        ('apply --server-side -f -', CONFIGMAP),
        ('apply --server-side -f - --field-manager=other', CONFIGMAP),
        ('!apply --server-side -f - --field-manager=other', CONFIGMAP_CHANGED),
        ('apply --server-side -f - --field-manager=other --force-conflicts', CONFIGMAP_CHANGED),
        ('get cm settings -o jsonpath={.metadata.managedFields[*].manager}', ''),
        ('apply -f -', CONFIGMAP),
        ('apply --server-side --force-conflicts -f -', CONFIGMAP),
    ],
    'change': [
        ('create -f -', CONFIGMAP),
        ('replace -f -', CONFIGMAP_CHANGED),
        ('patch cm settings -p {"data":{"size":"4"}}', ''),
        ('patch cm settings --type=merge -p {"data":{"size":"5"}}', ''),
        ('patch cm settings --type=json -p [{"op":"remove","path":"/data/size"}]', ''),
        ('!patch cm settings --type=json -p [{"op":"remove","path":"/data/size"}]', ''),
        ('label cm settings tier=gold', ''),
        ('!label cm settings tier=silver', ''),
        ('label cm settings tier=silver --overwrite', ''),
        ('label cm settings tier-', ''),
        ('annotate cm settings note=hello', ''),
        ('edit cm settings', ''),
        ('get cm settings -o jsonpath={.data}{.metadata.annotations.note}', ''),
        ('!create -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Bad_Name}\n'),
        ('!create -f -', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nbogus: 1\n'),
        ('create cm typed --from-literal=a=b', ''),
        ('create secret generic hidden --from-literal=a=b', ''),
        ('describe secret hidden', ''),
        ('create sa robot', ''),
        ('create ns change-extra', ''),
        ('delete ns change-extra', ''),
    ],
    'workloads': [
        ('apply -f -', DEPLOYMENT),
        ('rollout status deployment web', None),
        ('get deployment web', ''),
        ('get rs,pods --no-headers -o custom-columns=K:.kind,P:.status.phase', ''),
        ('scale deployment web --replicas=3', ''),
        ('rollout status deployment web', None),
        ('get deployment web -o jsonpath={.status.readyReplicas}', ''),
        ('set image deployment web main=registry.test/web:2', ''),
        ('rollout status deployment web', None),
        ('rollout history deployment web', ''),
        ('rollout undo deployment web', ''),
        ('rollout status deployment web', None),
        ('get deployment web -o jsonpath={.spec.template.spec.containers[0].image}', ''),
        ('wait --for=condition=Available deployment/web', ''),
        ('delete deployment web', ''),
        ('wait --for=delete pod -l app=web', None),  # Pods that are gone already are not named
    ],
    'daemonset': [
        ('apply -f -', DAEMONSET),
        ('rollout status ds agent', None),
        ('get ds agent', ''),
        ('set image ds agent main=registry.test/agent:2', ''),
        ('rollout status ds agent', None),
        ('rollout history ds agent', ''),
        ('get pods -l app=agent -o jsonpath={.items[*].spec.containers[0].image}', ''),
        ('delete ds agent', ''),
    ],
    'job': [
        ('apply -f -', JOB),
        ('get job once -o jsonpath={.spec.completions}', ''),
        ('wait --for=condition=Complete job/once', ''),
        ('get job once -o jsonpath={.status.succeeded}', ''),
        ('delete job once', ''),
    ],
    'nodes': [
        ('get nodes', ''),
        ('get nodes -L kubernetes.io/arch', ''),
        ('get nodes -o jsonpath={.items[*].metadata.name}', ''),
        ('cordon hollow-0', ''),
        ('get node hollow-0', ''),
        ('uncordon hollow-0', ''),
        ('taint node hollow-1 gpu=yes:NoSchedule', ''),
        ('get node hollow-1 -o jsonpath={.spec.taints[*].key}', ''),
        ('taint node hollow-1 gpu-', ''),
        ('label node hollow-1 pool=a100', ''),
        ('get nodes -l pool=a100 -o name', ''),
        ('label node hollow-1 pool-', ''),
    ],
    'drain': [
        ('apply -f -', DEPLOYMENT),
        ('rollout status deployment web', None),
        ('drain hollow-2 --ignore-daemonsets --force', None),
        ('get pods -A --field-selector spec.nodeName=hollow-2 -o name', ''),
        ('uncordon hollow-2', ''),
        ('delete deployment web', ''),
    ],
    'custom-resources': [
        ('apply -f -', CRD),
        ('wait --for=condition=Established crd/gadgets.clients.example', ''),
        ('apply -f -', GADGET),
        ('get gd', ''),
        ('get gadgets one -o yaml', ''),
        ('explain gadget.spec', ''),
        ('explain gadget.spec.size', ''),
        ('!apply -f -', GADGET.replace('size: 2', 'size: 0')),
        ('!apply -f -', GADGET.replace('size: 2', 'size: 2, colour: blue')),
        ('!create -f -', GADGET.replace('one', 'two').replace('size: 2', 'size: 2, weight: 1')),
        ('apply --server-side -f - --force-conflicts', GADGET.replace('size: 2', 'size: 5')),
        ('patch gd one --type=merge -p {"spec":{"size":7}}', ''),
        ('patch gd one --subresource=status --type=merge -p {"status":{"x":1}}', ''),
        ('api-resources --api-group=clients.example', ''),
        ('delete gd --all', ''),
        ('delete crd gadgets.clients.example', ''),
    ],
    'rbac': [
        ('create role reader --verb=get,list --resource=configmaps', ''),
        ('create rolebinding reader --role=reader --serviceaccount=NAMESPACE:default', ''),
        ('auth can-i list configmaps --as=system:serviceaccount:NAMESPACE:default', ''),
        ('!auth can-i delete configmaps --as=system:serviceaccount:NAMESPACE:default', ''),
        ('auth can-i --list --as=system:serviceaccount:NAMESPACE:default', None),
        ('get cm --as=system:serviceaccount:NAMESPACE:default -o name', ''),
        ('!get secrets --as=system:serviceaccount:NAMESPACE:default', ''),
        ('auth whoami --as=somebody --as-group=team', ''),
        ('describe role reader', ''),
        ('create token default --duration=10m', None),
    ],
    'explain': [
        ('explain node.spec', None),
        ('explain pod.spec.containers', None),
        ('explain deployment.spec.replicas', None),
        ('!explain nosuchkind', ''),
        ('!explain pod.spec.nosuchfield', ''),
        ('api-versions', None),
        ('api-resources --verbs=list --namespaced -o name', None),
        ('version -o json', None),
        ('cluster-info', None),
    ],
    'pods': [
        ('run solo --image=registry.test/solo:1 --restart=Never', ''),
        ('wait --for=condition=Ready pod/solo', ''),
        ('get pod solo', ''),
        ('describe pod solo', None),
        ('events --for pod/solo', None),
        ('get events --field-selector involvedObject.name=solo -o custom-columns=R:.reason --no-headers --sort-by=.reason', None),
        ('delete pod solo --wait=true', ''),
        ('!get pod solo', ''),
    ],
}
