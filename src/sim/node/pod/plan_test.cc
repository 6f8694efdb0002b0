#include <gtest/gtest.h>

#include "os/fake_fs.h"
#include "sim/node/pod/capabilities.h"
#include "sim/node/pod/container_plan.h"
#include "sim/node/prober.h"

namespace gpuop::sim::node {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

PodWish Wish(const std::string& spec, const std::string& meta = "") {
  const auto json = data::ParseJson(R"j({"metadata":{"name":"web","namespace":"ns","uid":"u-1","labels":{"app":"x"})j" +
                                    meta + R"j(},"spec":)j" + spec + "}");
  EXPECT_TRUE(json) << (json ? "" : json.error().text);
  return kube::Decode<PodWish>(json.value().as_object()).value();
}

const PodFacts kFacts{.pod_ip = "10.64.0.5", .host_ip = "10.0.0.1", .allocatable = {{"memory", "1Gi"}, {"cpu", "4"}}};

Sources Fake() {
  Sources s;
  const auto find = [](std::string_view kind, const std::map<std::string, ObjectData>& all) {
    return [kind, all](const std::string& name) -> Result<ObjectData> {
      const auto it = all.find(name);
      if (it == all.end()) return Fail(Code::kNotFound, std::string(kind) + " \"" + name + "\" not found");
      return it->second;
    };
  };
  s.config_map = find("configmap", {{"cfg", {{"a", "1"}, {"b", "2"}}}});
  s.secret = find("secret", {{"sec", {{"key", "hush"}}}});
  s.token = [](const TokenProjection& t) -> Result<std::string> { return "token for " + t.audience; };
  return s;
}

TEST(PodEnvTest, VariablesReferToEarlierOnesAndToTheApi) {
  const PodWish pod = Wish(R"j({"nodeName":"n1","containers":[{"name":"c",
    "envFrom":[{"prefix":"P_","configMapRef":{"name":"cfg"}},{"secretRef":{"name":"gone","optional":true}}],
    "env":[{"name":"X","value":"$(P_a)-$(NOPE)-$$(P_a)"},{"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
           {"name":"APP","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}},
           {"name":"S","valueFrom":{"secretKeyRef":{"name":"sec","key":"key"}}},
           {"name":"MEM","valueFrom":{"resourceFieldRef":{"resource":"limits.memory","divisor":"1Mi"}}},
           {"name":"P_b","value":"mine"}]
}]
})j");
  const auto env = PlanEnv(pod, pod.spec.containers[0], kFacts, Fake(), {"PATH=/bin", "FROM_IMAGE=yes"});
  ASSERT_TRUE(env) << env.error().text;
  EXPECT_THAT(*env,
              IsSupersetOf({"PATH=/bin", "FROM_IMAGE=yes", "P_a=1", "X=1-$(NOPE)-$(P_a)", "IP=10.64.0.5", "APP=x",
                            "S=hush", "MEM=1024", "P_b=mine", "KUBERNETES_SERVICE_HOST=10.96.0.1", "HOSTNAME=web"}));
}

TEST(PodEnvTest, WhatIsMissingIsSaidAsTheKubeletSaysIt) {
  for (const auto& [env, wanted] :
       {std::pair(R"j({"name":"X","valueFrom":{"configMapKeyRef":{"name":"none","key":"k"}}})j",
                  "configmap \"none\" not found"),
        {R"j({"name":"X","valueFrom":{"configMapKeyRef":{"name":"cfg","key":"k"}}})j",
         "couldn't find key k in ConfigMap ns/cfg"},
        {R"j({"name":"X","valueFrom":{"secretKeyRef":{"name":"sec","key":"k"}}})j",
         "couldn't find key k in Secret ns/sec"},
        {R"j({"name":"X","valueFrom":{"fieldRef":{"fieldPath":"spec.nope"}}})j", "unsupported fieldPath: spec.nope"}}) {
    const PodWish pod = Wish(R"j({"containers":[{"name":"c","env":[)j" + std::string(env) + "]}]}");
    const auto out = PlanEnv(pod, pod.spec.containers[0], kFacts, Fake(), {});
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().text, wanted);
  }
}

TEST(PodVolumesTest, ProjectedVolumesGatherTheirSources) {
  const PodWish pod =
      Wish(R"j({"containers":[{"name":"c"}],"volumes":[{"name":"v","projected":{"defaultMode":256,"sources":[
    {"serviceAccountToken":{"path":"token","audience":"api"}},
    {"configMap":{"name":"cfg","items":[{"key":"b","path":"sub/b","mode":292}]}},
    {"downwardAPI":{"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]}}]}}]})j");
  const auto files = PlanVolume(pod, pod.spec.volumes[0], kFacts, Fake());
  ASSERT_TRUE(files) << files.error().text;
  EXPECT_EQ(*files,
            (VolumeFiles{{"token", {"token for api", 0400}}, {"sub/b", {"2", 0444}}, {"labels", {"app=\"x\"", 0400}}}));
  EXPECT_TRUE(Shows(pod.spec.volumes[0], "ConfigMap", "cfg"));
  EXPECT_FALSE(Shows(pod.spec.volumes[0], "Secret", "cfg"));
}

TEST(PodVolumesTest, HostPathTypesAreCheckedInTheKubeletsWords) {
  os::FakeFs fs;
  ASSERT_TRUE(os::MakeFolders(fs, "/dir"));
  ASSERT_TRUE(os::MakeFolders(fs, "/dev"));
  ASSERT_TRUE(fs.WriteAtomic("/file", "x"));
  ASSERT_TRUE(fs.WriteAtomic("/dev/nvidia0", ""));
  struct Case {
    const char *path, *type, *error;
  };
  for (const Case& c : {Case{"/made/by/engine", "", ""},
                        {"/none", "Directory", "hostPath type check failed: /none is not a directory"},
                        {"/file", "Directory", "hostPath type check failed: /file is not a directory"},
                        {"/dir", "Directory", ""},
                        {"/new/deep", "DirectoryOrCreate", ""},
                        {"/dir", "File", "hostPath type check failed: /dir is not a file"},
                        {"/dir/made", "FileOrCreate", ""},
                        {"/file", "Socket", "hostPath type check failed: /file is not a socket file"},
                        {"/dev/nvidia0", "CharDevice", ""},
                        {"/file", "CharDevice", "hostPath type check failed: /file is not a character device"},
                        {"/file", "Odd", "Odd is an invalid volume type"}}) {
    const auto checked = CheckHostPath(fs, {c.path, c.type});
    EXPECT_EQ(checked ? "" : checked.error().text, c.error) << c.path << " " << c.type;
  }
  EXPECT_EQ(fs.Stat("/new/deep")->type, os::FileType::kFolder);
  EXPECT_EQ(fs.Stat("/made/by/engine")->type, os::FileType::kFolder);
  EXPECT_EQ(fs.Stat("/dir/made")->type, os::FileType::kFile);
}

TEST(PodVolumesTest, AVolumeIsExchangedAsAWhole) {
  os::FakeFs fs;
  ASSERT_TRUE(os::MakeFolders(fs, "/v"));
  ASSERT_TRUE(WriteVolume(fs, "/v", {{"a", {"1"}}, {"b", {"2"}}}, 1));
  EXPECT_EQ(fs.Read("/v/a").value(), "1");
  const std::string before = fs.ReadLink("/v/..data").value();
  ASSERT_TRUE(WriteVolume(fs, "/v", {{"a", {"1"}}, {"b", {"2"}}}, 2));
  EXPECT_EQ(fs.ReadLink("/v/..data").value(), before) << "nothing changed";
  ASSERT_TRUE(WriteVolume(fs, "/v", {{"a", {"9"}}}, 3));
  EXPECT_EQ(fs.Read("/v/a").value(), "9");
  EXPECT_FALSE(fs.Read("/v/b"));
  EXPECT_FALSE(fs.Stat("/v/" + before)) << "the old version goes";
}

TEST(ContainerPlanTest, AnOciSpecificationOfAPlainContainer) {
  const PodWish pod =
      Wish(R"j({"securityContext":{"runAsUser":1000,"fsGroup":7},"containers":[{"name":"c","args":["--n=$(N)"],
    "env":[{"name":"N","value":"5"}],"workingDir":"/w","securityContext":{"capabilities":{"drop":["ALL"],"add":["NET_ADMIN"]},
    "readOnlyRootFilesystem":true},
    "volumeMounts":[{"name":"e","mountPath":"/data","subPath":"s"},{"name":"h","mountPath":"/host","readOnly":true,"mountPropagation":"HostToContainer"}]}],
    "volumes":[{"name":"e","emptyDir":{}},{"name":"h","hostPath":{"path":"/"}}]
})j");
  Image image;
  image.entrypoint = {"/bin/app"};
  image.command = {"ignored"};
  image.user = "65532:65532";
  const ContainerParts parts{pod,
                             pod.spec.containers[0],
                             image,
                             kFacts,
                             {.env = {{"NVIDIA_VISIBLE_DEVICES", "0"}},
                              .annotations = {},
                              .mounts = {{"/lib/x", "/opt/x", true}},
                              .nodes = {},
                              .cdi = {}}};
  const auto oci = PlanOci(parts, Fake(), 2);
  ASSERT_TRUE(oci) << oci.error().text;
  const auto spec = ReadOci(*oci, {});
  ASSERT_TRUE(spec);
  EXPECT_THAT(spec->process.argv, ElementsAre("/bin/app", "--n=5"));
  EXPECT_THAT(spec->process.env, testing::Contains("NVIDIA_VISIBLE_DEVICES=0"));
  EXPECT_EQ(spec->process.folder, "/w");
  EXPECT_EQ(spec->process.user.uid, 1000U);
  EXPECT_EQ(spec->process.user.gid, 0U) << "the image's group belongs to the image's user";
  EXPECT_THAT(spec->process.user.groups, ElementsAre(7U));
  EXPECT_EQ(spec->process.user.capabilities, CapabilityBit("CAP_NET_ADMIN"));
  EXPECT_TRUE(spec->read_only_root);
  EXPECT_THAT(
      spec->mounts,
      IsSupersetOf(
          {MountSpec{"/data",
                     "bind",
                     "/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~empty-dir/e/s",
                     {"rbind", "rprivate", "rw"}},
           MountSpec{"/host", "bind", "/", {"rbind", "rslave", "ro"}},
           MountSpec{"/lib/x", "bind", "/opt/x", {"rbind", "rprivate", "ro"}},
           MountSpec{"/dev/termination-log", "bind", TerminationFile("u-1", "c", 2), {"rbind", "rprivate", "rw"}}}));
}

TEST(ContainerPlanTest, WhatCannotBeIsRefused) {
  Image image;
  image.entrypoint = {"/bin/app"};
  for (
      const auto& [spec, wanted] :
      {std::pair(R"j({"containers":[{"name":"c","volumeMounts":[{"name":"x","mountPath":"/x"}]}]})j",
                 "cannot find volume \"x\" to mount into container \"c\""),
       {R"j({"containers":[{"name":"c","volumeMounts":[{"name":"x","mountPath":"/x","subPath":"../up"}]}],"volumes":[{"name":"x","emptyDir":{}}]})j",
        "unable to provision SubPath"},
       {R"j({"containers":[{"name":"c","securityContext":{"runAsNonRoot":true}}]})j",
        "container has runAsNonRoot and image will run as root"}}) {
    const PodWish pod = Wish(spec);
    const auto oci = PlanOci({pod, pod.spec.containers[0], image, kFacts, {}}, Fake(), 0);
    ASSERT_FALSE(oci) << spec;
    EXPECT_THAT(oci.error().text, HasSubstr(wanted));
  }
}

TEST(RegistryTest, ImagesAreFoundByPatternAndArchitecture) {
  const Registry registry;
  EXPECT_TRUE(registry.Pull("registry.example.com/x/gpu-operator:v1", "arm64"));
  EXPECT_TRUE(registry.Pull("shell", "amd64"));
  const auto missing = registry.Pull("nope", "amd64");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text,
            "failed to pull and unpack image \"docker.io/library/nope:latest\": failed to resolve image: "
            "docker.io/library/nope:latest: not found");
  EXPECT_EQ(FullImageName("a/b@sha256:0").value(), "docker.io/a/b@sha256:0");
  EXPECT_EQ(FullImageName("localhost:5000/b").value(), "localhost:5000/b:latest");
  EXPECT_FALSE(FullImageName("Upper"));
}

TEST(ProbeCountTest, VerdictsComeAtThresholds) {
  Probe probe;
  probe.success = 2, probe.failure = 3;
  ProbeCount readiness(probe, ProbeKind::kReadiness), liveness(probe, ProbeKind::kLiveness);
  EXPECT_EQ(readiness.Add(true), std::nullopt);
  EXPECT_EQ(readiness.Add(true), true);
  EXPECT_EQ(readiness.Add(false), std::nullopt);
  EXPECT_EQ(readiness.Add(false), std::nullopt);
  EXPECT_EQ(readiness.Add(false), false);
  EXPECT_EQ(liveness.Add(true), true) << "its success threshold is 1";
  EXPECT_EQ(liveness.Add(false), std::nullopt);
}

}  // namespace
}  // namespace gpuop::sim::node
