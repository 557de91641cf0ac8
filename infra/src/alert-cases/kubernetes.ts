import type { AlertCase } from "./alert-case.ts";

const claim = 'namespace="sluice",persistentvolumeclaim="journal-edge-2"';

export const kubernetesCases: readonly AlertCase[] = [
  // Its pod goes after five minutes. The job that ships it runs for five, and is over; the claim is still there.
  {
    alert: "JournalLeftBehind",
    series: {
      [`kube_persistentvolumeclaim_info{${claim},volumename="pvc-1",instance="a"}`]: "1x60",
      [`kube_persistentvolumeclaim_info{${claim},volumename="pvc-1",instance="b"}`]: "1x60",
      [`kube_pod_spec_volumes_persistentvolumeclaims_info{${claim},pod="edge-2",volume="journal"}`]:
        "1x5 stale",
      'kube_pod_status_phase{namespace="sluice",pod="edge-2",phase="Running"}': "1x5 stale",
      [`kube_pod_spec_volumes_persistentvolumeclaims_info{${claim},pod="ship-1",volume="journal"}`]:
        "_x10 1x50",
      'kube_pod_status_phase{namespace="sluice",pod="ship-1",phase="Running"}': "_x10 1x5 0x45",
      'kube_pod_status_phase{namespace="sluice",pod="ship-1",phase="Succeeded"}': "_x10 0x5 1x45",
    },
    quietAt: "30m",
    firesAt: "31m",
    labels: { namespace: "sluice", persistentvolumeclaim: "journal-edge-2" },
  },
  // The same claim has a pod in another region; the claim is deleted after forty minutes.
  {
    alert: "JournalLeftBehind",
    series: {
      [`kube_persistentvolumeclaim_info{${claim},region="us"}`]: "1x40 stale",
      [`kube_persistentvolumeclaim_info{${claim},region="eu"}`]: "1x60",
      [`kube_pod_spec_volumes_persistentvolumeclaims_info{${claim},pod="edge-2",region="eu"}`]: "1x60",
      'kube_pod_status_phase{namespace="sluice",pod="edge-2",phase="Running",region="eu"}': "1x60",
    },
    quietAt: "41m",
    firesAt: "40m",
    labels: { region: "us", namespace: "sluice", persistentvolumeclaim: "journal-edge-2" },
  },
  {
    alert: "VolumesUnseen",
    series: { 'up{job="edge",pod="edge-0"}': "1x40", 'up{job="kube-state-metrics"}': "0x40" },
    quietAt: "14m",
    firesAt: "15m",
  },
];
