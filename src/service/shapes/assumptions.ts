/**
 * The member of the OpenAPI document that marks details which the interface does not show. It is a type
 * rather than an interface, because only a type has the index signature that zod's metadata need.
 */
export type Assumed = {
  /** The open questions, in the words of docs/assumptions.md, which has each choice and its reason. */
  readonly 'x-posthorn-assumptions'?: readonly string[];
};

/** Marks a part of the document as based on these rows of docs/assumptions.md. */
export function assumed(...leftOpen: readonly string[]): Assumed {
  return { 'x-posthorn-assumptions': leftOpen };
}
