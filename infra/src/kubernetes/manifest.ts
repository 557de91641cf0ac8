import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { parseAllDocuments } from "yaml";
import { z } from "zod";

const Labels = z.record(z.string(), z.string());
const Selector = z.object({ matchLabels: Labels.default({}) });
const Port = z.object({ port: z.union([z.string(), z.number()]) });

const Metadata = z.object({ name: z.string(), labels: Labels.default({}), annotations: Labels.default({}) });
const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });

const Variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .object({
      secretKeyRef: z.object({ name: z.string(), key: z.string() }).optional(),
      fieldRef: z.object({ fieldPath: z.string() }).optional(),
    })
    .optional(),
});

const Container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(Variable).default([]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  readinessProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  resources: z.object({ requests: Labels, limits: Labels }),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })).default([]),
});

const Pod = z.object({
  metadata: z.object({ labels: Labels, annotations: Labels.default({}) }),
  spec: z.object({
    automountServiceAccountToken: z.boolean(),
    terminationGracePeriodSeconds: z.number().default(30),
    securityContext: z.looseObject({}),
    topologySpreadConstraints: z
      .array(z.object({ topologyKey: z.string(), labelSelector: Selector }))
      .default([]),
    containers: z.tuple([Container]),
  }),
});

const Claim = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({ resources: z.object({ requests: z.object({ storage: z.string() }) }) }),
});

const Replicated = z.object({ selector: Selector, template: Pod });

/** What our tests look at of each kind; that the rest is right is what the API's schemas are for. */
const Manifest = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("Namespace"), metadata: Metadata }),
  z.object({ kind: z.literal("ConfigMap"), metadata: Metadata, data: Labels }),
  z.object({
    kind: z.literal("Service"),
    metadata: Metadata,
    spec: z.object({ selector: Labels, ports: z.array(z.object({ targetPort: z.string() })) }),
  }),
  z.object({ kind: z.literal("Deployment"), metadata: Metadata, spec: Replicated }),
  z.object({
    kind: z.literal("StatefulSet"),
    metadata: Metadata,
    spec: Replicated.extend({ volumeClaimTemplates: z.tuple([Claim]) }),
  }),
  z.object({ kind: z.literal("Job"), metadata: Metadata, spec: z.object({ template: Pod }) }),
  z.object({
    kind: z.literal("PodDisruptionBudget"),
    metadata: Metadata,
    spec: z.object({ selector: Selector }),
  }),
  z.object({
    kind: z.literal("NetworkPolicy"),
    metadata: Metadata,
    spec: z.object({
      podSelector: Selector.default({ matchLabels: {} }),
      ingress: z.array(z.object({ from: z.unknown().optional(), ports: z.array(Port) })).default([]),
      egress: z.array(z.object({ to: z.unknown().optional(), ports: z.array(Port) })).default([]),
    }),
  }),
]);
export type Manifest = z.output<typeof Manifest>;
export type Workload = Extract<Manifest, { kind: "StatefulSet" | "Deployment" | "Job" }>;
export type Container = z.output<typeof Container>;

/** The objects that a folder gives, as the API would get them. */
export async function render(kubectl: string, dir: string): Promise<readonly object[]> {
  const { stdout } = await promisify(execFile)(kubectl, ["kustomize", dir]);
  return parseAllDocuments(stdout).map((document) => z.looseObject({}).parse(document.toJS()));
}

export function parseManifests(objects: readonly object[]): readonly Manifest[] {
  return z.array(Manifest).parse(objects);
}

export function ofKind<Kind extends Manifest["kind"]>(manifests: readonly Manifest[], kind: Kind) {
  return manifests.filter((each): each is Extract<Manifest, { kind: Kind }> => each.kind === kind);
}

export function workloadsOf(manifests: readonly Manifest[]): readonly Workload[] {
  return manifests.filter((each): each is Workload => "spec" in each && "template" in each.spec);
}

/** Whether pods with these labels are meant. An empty selector means all. */
export function selects(matchLabels: Readonly<Record<string, string>>, { spec }: Workload): boolean {
  const { labels } = spec.template.metadata;
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
}
