// The service's messages, from its OpenAPI document: a field that is renamed there fails the check here.

import type { components } from "../../../../../build/page/openapi";

type Schemas = components["schemas"];

/** A response has every field: the service fills in the defaults. */
type Complete<T> = { [Field in keyof T]-?: Exclude<T[Field], undefined> };

export type Bound = Schemas["BoundStatus"];
export type GroupRisk = Schemas["GroupRisk"];
export type HistoryResponse = Schemas["History"];
export type KernelConfig = Complete<Schemas["KernelConfig"]>;
export type StreamConfig =
  | Complete<Schemas["AutoConfig"]>
  | Complete<Schemas["ArcConfig"]>
  | (Complete<Omit<Schemas["LarcConfig"], "kernel">> & { kernel: KernelConfig })
  | Complete<Schemas["MondrianConfig"]>
  | Complete<Schemas["GateConfig"]>;
export type Health = Schemas["Health"];
export type StreamListItem = Schemas["StreamListItem"];
export type StreamList = Complete<Omit<Schemas["StreamList"], "statuses">> & {
  statuses: Complete<Schemas["StatusCounts"]>;
};
export type StreamSummary = Omit<Schemas["StreamSummary"], "config"> & { config: StreamConfig };
export type ThresholdMap = Schemas["ThresholdMap"];
export type StreamEvent =
  | Schemas["CreatedEvent"]
  | Schemas["PredictedEvent"]
  | Schemas["FeedbackEvent"]
  | Schemas["AuditedEvent"]
  | Schemas["ExpiredEvent"]
  | Schemas["ImportedEvent"]
  | Schemas["HealthEvent"]
  | Schemas["AcknowledgedEvent"]
  | Schemas["ChangedEvent"]
  | Schemas["RenamedEvent"]
  | Schemas["RemovedEvent"]
  | Schemas["DeletedEvent"]
  | Schemas["ResetEvent"];
