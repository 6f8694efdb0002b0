// Custom resources: definitions accepted and refused, pruning, defaults, validation, CEL, subresources, columns.

#include "e2e/api/scenarios.h"

namespace gpuop::e2e {
namespace {

const char* const kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string Crd(const std::string& plural, const std::string& kind, const std::string& schema,
                const std::string& more = "", const std::string& scope = "Namespaced") {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":")" + plural +
         R"(.e2e.example"},"spec":{"group":"e2e.example","scope":")" + scope + R"(","names":{"plural":")" + plural +
         R"(","kind":")" + kind +
         R"("},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" + schema + "}" +
         more + "}]}}";
}

/// Creates the definition and waits until its resources are served.
void Establish(Session& s, const std::string& plural, const std::string& kind, const std::string& schema,
               const std::string& more = "", const std::string& scope = "Namespaced") {
  s.Quietly("POST", kCrds, Crd(plural, kind, schema, more, scope));
  s.WaitFor("/apis/e2e.example/v1/" + plural);
}

const char* const kSchema =
    R"({"type":"object","required":["spec"],"properties":{"spec":{"type":"object","required":["size"],"properties":{
  "size":{"type":"integer","minimum":1,"maximum":10},
  "colour":{"type":"string","enum":["red","green"],"default":"red"},
  "name":{"type":"string","pattern":"^[a-z]+$","maxLength":5},
  "ratio":{"type":"number"},
  "port":{"x-kubernetes-int-or-string":true},
  "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"},"maxItems":3},
  "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"weight":{"type":"integer","default":1}}}},
  "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
  "maybe":{"type":"string","nullable":true},
  "nested":{"type":"object","default":{},"properties":{"on":{"type":"boolean","default":true}}},
  "labels":{"type":"object","additionalProperties":{"type":"string"}}}},
  "status":{"type":"object","properties":{"phase":{"type":"string"},"replicas":{"type":"integer"},"selector":{"type":"string"}}}}})";

std::string Widget(const std::string& name, const std::string& spec) {
  return R"({"apiVersion":"e2e.example/v1","kind":"Widget","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
}

void Values(Session& s) {
  Establish(s, "widgets", "Widget", kSchema);
  const std::string path = s.Apis("e2e.example/v1", "widgets");
  s.Post(path, Widget("ok", R"({"size":3})"));
  s.Post(
      path,
      Widget(
          "full",
          R"({"size":3,"colour":"green","name":"abc","ratio":1.5,"port":"http","tags":["a","b"],"parts":[{"id":"x"}],"free":{"any":{"thing":1}},"maybe":null,"nested":{},"labels":{"a":"b"}})"));
  s.Post(path, Widget("pruned", R"({"size":3,"unknown":1,"nested":{"off":true}})"));
  s.Post(path, Widget("strict", R"({"size":3,"unknown":1})"), {{"fieldValidation", "Strict"}});
  s.Post(path, Widget("b1", R"({"size":0})"));
  s.Post(path, Widget("b2", R"({"size":"three"})"));
  s.Post(path, Widget("b3", R"({"size":3,"colour":"blue"})"));
  s.Post(path, Widget("b4", R"({"size":3,"name":"ABC"})"));
  s.Post(path, Widget("b5", R"({"size":3,"name":"abcdefgh"})"));
  s.Post(path, Widget("b6", R"({"size":3,"tags":["a","a"]})"));
  s.Post(path, Widget("b7", R"({"size":3,"tags":["a","b","c","d"]})"));
  s.Post(path, Widget("b8", R"({"size":3,"parts":[{"id":"x"},{"id":"x"}]})"));
  s.Post(path, Widget("b9", R"({"size":3,"parts":[{}]})"));
  s.Post(path, Widget("b10", R"({"size":3,"maybe":5})"));
  s.Post(path, Widget("b10", R"({"size":3,"ratio":"x"})"));
  s.Post(path, Widget("b10", R"({"size":3,"labels":{"a":1}})"));
  s.Post(path, Widget("b11", R"({})"));
  s.Post(path, R"({"apiVersion":"e2e.example/v1","kind":"Widget","metadata":{"name":"nospec"}})");
  s.Post(path, R"({"apiVersion":"e2e.example/v1","kind":"Gadget","metadata":{"name":"kind"},"spec":{"size":1}})");
  s.Post(path, Widget("b12", R"({"size":1.5})"));
  s.Post(path, Widget("b13", R"({"size":3,"port":true})"));
  s.MergePatch(path + "/ok", R"({"spec":{"size":11}})");
  s.MergePatch(path + "/ok", R"({"spec":{"size":5,"colour":null}})");
  s.StrategicPatch(path + "/ok", R"({"spec":{"size":6}})");
  s.JsonPatch(path + "/ok", R"([{"op":"replace","path":"/spec/size","value":7}])");
  s.Apply(path + "/ok", Widget("ok", R"({"size":7,"parts":[{"id":"p1"}],"tags":["t1"]})"), "one");
  s.Apply(path + "/ok", Widget("ok", R"({"size":7,"parts":[{"id":"p2"}],"tags":["t2"]})"), "two");
  s.Get(path + "/ok");
  s.Delete(path + "/ok");
  s.Put(path + "/full",
        R"({"apiVersion":"e2e.example/v1","kind":"Widget","metadata":{"name":"full"},"spec":{"size":1}})");
  s.Quietly("DELETE", std::string(kCrds) + "/widgets.e2e.example");
}

void Rules(Session& s) {
  Establish(
      s, "rules", "Rule",
      R"J({"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"!has(self.min) || !has(self.max) || self.min <= self.max","message":"min must not exceed max"},{"rule":"has(self.default) && self.default ? !has(self.nodeSelector) || size(self.nodeSelector) == 0 : true"}],
      "properties":{"min":{"type":"integer"},"max":{"type":"integer"},"default":{"type":"boolean"},"nodeSelector":{"type":"object","additionalProperties":{"type":"string"}},
      "kind":{"type":"string","x-kubernetes-validations":[{"rule":"self == oldSelf","message":"kind is immutable"}]},
      "names":{"type":"array","maxItems":10,"items":{"type":"string","maxLength":20},"x-kubernetes-validations":[{"rule":"self.all(n, n.startsWith('gpu-'))","messageExpression":"'every name starts with ' + 'gpu-'"}]}}}}})J");
  const std::string path = s.Apis("e2e.example/v1", "rules");
  auto rule = [](const std::string& name, const std::string& spec) {
    return R"({"apiVersion":"e2e.example/v1","kind":"Rule","metadata":{"name":")" + name + R"("},"spec":)" + spec + "}";
  };
  s.Post(path, rule("a", R"({"min":1,"max":2,"kind":"x"})"));
  s.Post(path, rule("b", R"({"min":3,"max":2})"));
  s.Post(path, rule("c", R"({"default":true,"nodeSelector":{"a":"b"}})"));
  s.Post(path, rule("d", R"({"default":true,"nodeSelector":{}})"));
  s.Post(path, rule("e", R"({"names":["gpu-1","cpu-2"]})"));
  s.MergePatch(path + "/a", R"({"spec":{"kind":"y"}})");
  s.MergePatch(path + "/a", R"({"spec":{"kind":null}})");
  s.MergePatch(path + "/a", R"({"spec":{"kind":"z"}})");
  s.Quietly("DELETE", std::string(kCrds) + "/rules.e2e.example");
}

void StatusAndScale(Session& s) {
  Establish(
      s, "machines", "Machine",
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{"replicas":{"type":"integer"}}},"status":{"type":"object","properties":{"replicas":{"type":"integer"},"phase":{"type":"string"},"selector":{"type":"string"}}}}})",
      R"(,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}},"additionalPrinterColumns":[{"name":"Phase","type":"string","jsonPath":".status.phase"},{"name":"Replicas","type":"integer","jsonPath":".spec.replicas","priority":1},{"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}])");
  const std::string path = s.Apis("e2e.example/v1", "machines");
  s.Post(
      path,
      R"({"apiVersion":"e2e.example/v1","kind":"Machine","metadata":{"name":"m"},"spec":{"replicas":1},"status":{"phase":"ignored"}})");
  s.MergePatch(path + "/m/status", R"({"spec":{"replicas":9},"status":{"phase":"Up","replicas":1,"selector":"a=b"}})");
  s.MergePatch(path + "/m", R"({"spec":{"replicas":2},"status":{"phase":"ignored"}})");
  s.MergePatch(path + "/m", R"({"metadata":{"labels":{"a":"b"}}})");
  s.Get(path + "/m/scale");
  s.MergePatch(path + "/m/scale", R"({"spec":{"replicas":4}})");
  s.Send({.path = path,
          .query = {},
          .accept = "application/json;as=Table;v=v1;g=meta.k8s.io",
          .content_type = "",
          .body = ""});
  s.Apply(path + "/m/status",
          R"({"apiVersion":"e2e.example/v1","kind":"Machine","metadata":{"name":"m"},"status":{"phase":"Down"}})",
          "state", true);
  s.Get(path + "/m/status");
  s.Quietly("DELETE", std::string(kCrds) + "/machines.e2e.example");
}

void Formats(Session& s) {
  Establish(
      s, "forms", "Form",
      R"({"type":"object","properties":{"email":{"type":"string","format":"email"},"uri":{"type":"string","format":"uri"},"hostname":{"type":"string","format":"hostname"},"ipv4":{"type":"string","format":"ipv4"},"ipv6":{"type":"string","format":"ipv6"},"cidr":{"type":"string","format":"cidr"},"mac":{"type":"string","format":"mac"},"uuid":{"type":"string","format":"uuid"},"byte":{"type":"string","format":"byte"},"date":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time"},"duration":{"type":"string","format":"duration"},"label":{"type":"string","format":"k8s-short-name"},"any":{"type":"string","format":"nonsense"}}})");
  const std::string path = s.Apis("e2e.example/v1", "forms");
  const auto form = [](const std::string& name, const std::string& fields) {
    return R"({"apiVersion":"e2e.example/v1","kind":"Form","metadata":{"name":")" + name + "\"}," + fields + "}";
  };
  s.Post(
      path,
      form(
          "good",
          R"("email":"a@b.c","uri":"http://a/b?c","hostname":"a-1","ipv4":"1.2.3.4","ipv6":"::1","cidr":"10.0.0.0/8","mac":"00:11:22:33:44:55","uuid":"123e4567-e89b-12d3-a456-426614174000","byte":"aGk=","date":"2020-01-02","time":"2020-01-02T03:04:05Z","duration":"1h30m","label":"abc","any":"thing")"));
  int n = 0;
  for (const char* field :
       {R"("email":"@b")", R"("uri":"a b")", R"("hostname":"a_b")", R"("ipv4":"::1")", R"("ipv6":"1.2.3.4")",
        R"("cidr":"1.2.3.4")", R"("mac":"00:11")", R"("uuid":"x")", R"("byte":"aGk")", R"("date":"2020-02-30")",
        R"("time":"2020-01-02")", R"("duration":"5")", R"("label":"A")"})
    s.Post(path, form("bad" + std::to_string(++n), field));
  s.Quietly("DELETE", std::string(kCrds) + "/forms.e2e.example");
}

void Definitions(Session& s) {
  s.Post(kCrds, Crd("things", "Thing", R"({"type":"object"})", "", "Cluster"));
  s.WaitFor("/apis/e2e.example/v1/things");
  s.Get(std::string(kCrds) + "/things.e2e.example");
  s.Post("/apis/e2e.example/v1/things",
         R"({"apiVersion":"e2e.example/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"gone":1}})");
  s.Get("/apis/e2e.example/v1/things/t");
  s.Delete(std::string(kCrds) + "/things.e2e.example");
  s.Post(
      kCrds,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wrong.e2e.example"},"spec":{"group":"e2e.example","scope":"Namespaced","names":{"plural":"right","kind":"Right"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  for (const char* pattern : {"a(b", "[a", "a**", "(?!x)", "a{2,1}", ")"})
    s.Post(kCrds,
           Crd("patterns", "Pattern",
               R"({"type":"object","properties":{"a":{"type":"string","pattern":")" + std::string(pattern) + "\"}}}"));
  s.Post(kCrds, Crd("nostructs", "NoStruct", R"({"type":"object","properties":{"a":{}}})"));
  s.Post(kCrds, Crd("noschemas", "NoSchema", "null"));
  s.Post(kCrds, Crd("badtypes", "BadType", R"({"type":"object","properties":{"a":{"type":"strong"}}})"));
  s.Post(kCrds,
         Crd("baddefaults", "BadDefault", R"({"type":"object","properties":{"a":{"type":"string","default":5}}})"));
  s.Post(
      kCrds,
      Crd("badlists", "BadList",
          R"({"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"map","items":{"type":"object","properties":{"k":{"type":"string"}}}}}})"));
  s.Post(
      kCrds,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"twos.e2e.example"},"spec":{"group":"e2e.example","scope":"Sideways","names":{"plural":"twos","kind":"Two"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
}

void Versions(Session& s) {
  s.Quietly(
      "POST", kCrds,
      R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"vers.e2e.example"},"spec":{"group":"e2e.example","scope":"Namespaced","names":{"plural":"vers","kind":"Ver","shortNames":["vr"],"categories":["all"]},"versions":[
    {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}}}},
    {"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","default":"d"}}}}}}},
    {"name":"v1alpha1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
  s.WaitFor("/apis/e2e.example/v1/vers");
  s.Post(s.Apis("e2e.example/v1", "vers"),
         R"({"apiVersion":"e2e.example/v1","kind":"Ver","metadata":{"name":"v"},"spec":{"a":"1","b":"2"}})");
  s.Get(s.Apis("e2e.example/v1beta1", "vers/v"));
  s.Get(s.Apis("e2e.example/v1alpha1", "vers/v"));
  s.Post(s.Apis("e2e.example/v1beta1", "vers"),
         R"({"apiVersion":"e2e.example/v1beta1","kind":"Ver","metadata":{"name":"w"},"spec":{"a":"1","b":"2"}})");
  s.Get(s.Apis("e2e.example/v1", "vers/w"));
  s.Quietly("DELETE", std::string(kCrds) + "/vers.e2e.example");
}

}  // namespace

std::vector<Scenario> CrdScenarios() {
  return {{"crd-values", Values},           {"crd-rules", Rules},
          {"crd-formats", Formats},         {"crd-subresources", StatusAndScale},
          {"crd-definitions", Definitions}, {"crd-versions", Versions}};
}

}  // namespace gpuop::e2e
