export {
  type AdapterConformanceOptions,
  adapterConformance,
  type Serve,
  type ServedAdapter,
  type ServePath,
} from './adapter-conformance.ts';
export type { ConformanceCase } from './conformance-case.ts';
export { type CreatedEvent, type CreateEventOptions, createEvent } from './create-event.ts';
export { type DeliverOptions, deliver } from './deliver.ts';
export type { ProviderSamples } from './provider-conformance/subject.ts';
export { providerConformance } from './provider-conformance.ts';
export { type SignedHeadersOptions, signedHeaders } from './signed-headers.ts';
export { storeConformance } from './store-conformance.ts';
