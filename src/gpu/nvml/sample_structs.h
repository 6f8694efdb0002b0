#pragma once
// NVML's structs of events, samples, processes and licences: fields have NVML's names and places, which abi_test holds
// to the published nvml.h. The comment on each struct is NVML's name of it.

#include "gpu/nvml/gpm_ids.h"
#include "gpu/nvml/types.h"

namespace gpuop::gpu::nvml {

/// nvmlUtilization_t: percent.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};

/// nvmlProcessInfo_t: memory in bytes; kValueNotAvailable where the driver cannot say.
struct ProcessInfo {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

/// nvmlProcessDetail_v1_t.
struct ProcessDetailV1 {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
  unsigned long long usedGpuCcProtectedMemory;
};

/// nvmlProcessDetailList_v1_t.
struct ProcessDetailListV1 {
  unsigned version;
  unsigned mode;
  unsigned numProcArrayEntries;
  ProcessDetailV1* procArray;
};

/// nvmlValue_t.
union Value {
  double dVal;
  int siVal;
  unsigned uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
  long long sllVal;
  unsigned short usVal;
};

/// nvmlSample_t.
struct Sample {
  unsigned long long timeStamp;
  Value sampleValue;
};

/// nvmlProcessUtilizationSample_t.
struct ProcessUtilizationSample {
  unsigned pid;
  unsigned long long timeStamp;
  unsigned smUtil;
  unsigned memUtil;
  unsigned encUtil;
  unsigned decUtil;
};

/// nvmlProcessUtilizationInfo_v1_t.
struct ProcessUtilizationInfoV1 {
  unsigned long long timeStamp;
  unsigned pid;
  unsigned smUtil;
  unsigned memUtil;
  unsigned encUtil;
  unsigned decUtil;
  unsigned jpgUtil;
  unsigned ofaUtil;
};

/// nvmlProcessesUtilizationInfo_v1_t.
struct ProcessesUtilizationInfoV1 {
  unsigned version;
  unsigned processSamplesCount;
  unsigned long long lastSeenTimeStamp;
  ProcessUtilizationInfoV1* procUtilArray;
};

/// nvmlEventData_t: eventData is the Xid of a critical error; instance ids are kGpuInstanceIdAny when the event is of
/// the whole GPU.
struct EventData {
  Device device;
  unsigned long long eventType;
  unsigned long long eventData;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

/// nvmlSystemEventSetCreateRequest_v1_t.
struct SystemEventSetCreateRequestV1 {
  unsigned version;
  SystemEventSet set;
};

/// nvmlSystemEventSetFreeRequest_v1_t.
struct SystemEventSetFreeRequestV1 {
  unsigned version;
  SystemEventSet set;
};

/// nvmlSystemRegisterEventRequest_v1_t.
struct SystemRegisterEventRequestV1 {
  unsigned version;
  unsigned long long eventTypes;
  SystemEventSet set;
};

/// nvmlSystemEventData_v1_t.
struct SystemEventDataV1 {
  unsigned long long eventType;
  unsigned gpuId;
};

/// nvmlSystemEventSetWaitRequest_v1_t.
struct SystemEventSetWaitRequestV1 {
  unsigned version;
  unsigned timeoutms;
  SystemEventSet set;
  SystemEventDataV1* data;
  unsigned dataSize;
  unsigned numEvent;
};

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned fieldId;
  unsigned scopeId;
  long long timestamp;
  long long latencyUsec;
  ValueType valueType;
  Return nvmlReturn;
  Value value;
};

/// nvmlGridLicenseExpiry_t.
struct GridLicenseExpiry {
  unsigned year;
  unsigned short month;
  unsigned short day;
  unsigned short hour;
  unsigned short min;
  unsigned short sec;
  unsigned char status;
};

/// nvmlGridLicensableFeature_t.
struct GridLicensableFeature {
  GridLicenseFeatureCode featureCode;
  unsigned featureState;
  char licenseInfo[128];
  char productName[128];
  unsigned featureEnabled;
  GridLicenseExpiry licenseExpiry;
};

/// nvmlGridLicensableFeatures_t.
struct GridLicensableFeatures {
  int isGridLicenseSupported;
  unsigned licensableFeaturesCount;
  GridLicensableFeature gridLicensableFeatures[3];
};

/// nvmlGpmMetric_t.
struct GpmMetric {
  unsigned metricId;
  Return nvmlReturn;
  double value;
  struct {
    char* shortName;
    char* longName;
    char* unit;
  } metricInfo;
};

/// nvmlGpmMetricsGet_t.
struct GpmMetricsGet {
  unsigned version;
  unsigned numMetrics;
  GpmSample sample1;
  GpmSample sample2;
  GpmMetric metrics[static_cast<unsigned>(GpmMetricId::kMax)];
};

/// nvmlGpmSupport_t.
struct GpmSupport {
  unsigned version;
  unsigned isSupportedDevice;
};

/// nvmlProcessInfo_v1_t.
struct ProcessInfoV1 {
  unsigned pid;
  unsigned long long usedGpuMemory;
};

/// nvmlProcessInfo_v2_t.
struct ProcessInfoV2 {
  unsigned pid;
  unsigned long long usedGpuMemory;
  unsigned gpuInstanceId;
  unsigned computeInstanceId;
};

}  // namespace gpuop::gpu::nvml
