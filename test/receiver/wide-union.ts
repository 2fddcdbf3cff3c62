import type { TypedEvent } from 'posthorn';

type Row = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9' | '10';
type Column = '0' | '1' | '2' | '3' | '4';
type Verb = 'created' | 'updated' | 'deleted' | 'line.added' | 'line.removed';

/** 275 types, as many as the union of a large sender has. */
export type WideType = `thing_${Row}_${Column}.${Verb}`;

/** The event of a type. */
export interface WideEventOf<Type extends WideType> extends TypedEvent {
  readonly id: string;
  readonly type: Type;
  readonly created: number;
  readonly data: {
    readonly object: { readonly of: Type };
    readonly previous?: Readonly<Record<string, unknown>>;
  };
}

/** A union of 275 events. */
export type WideEvent = { [Type in WideType]: WideEventOf<Type> }[WideType];
