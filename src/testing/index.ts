export { createEvent } from './create-event.ts';
export { type DeliverOptions, deliver } from './deliver.ts';
export { type SignedHeadersOptions, signedHeaders } from './signed-headers.ts';
export { type ConformanceCase, storeConformance } from './store-conformance.ts';
