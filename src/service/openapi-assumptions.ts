/**
 * The member of the OpenAPI document that marks what the interface does not show. No interface: only a type
 * has the index signature that zod's metadata want.
 */
export type Assumed = {
  /** What is left open, in the words of docs/assumptions.md, which has the choice and its reason. */
  readonly 'x-posthorn-assumptions'?: readonly string[];
};

/** Marks a part of the document as resting on these rows of docs/assumptions.md. */
export function assumed(...leftOpen: readonly string[]): Assumed {
  return { 'x-posthorn-assumptions': leftOpen };
}
