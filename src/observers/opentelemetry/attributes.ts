import type { Attributes } from '@opentelemetry/api';
import type { TypeLabels } from '../../receiver/events/type-rules.ts';
import { type HandlerReport, type Report, warningCodeOf } from '../../receiver/outcomes/report.ts';
import { shorten } from '../../receiver/values/foreign-values.ts';

/** Names, ids and types can have any length, and backends index them. */
const MAX_NAME_LENGTH = 200;

/**
 * Cuts an id, a type, or the name of a handler or an error. Other texts may be longer: `shorten` cuts them.
 */
export function shortName(text: string): string {
  return shorten(text, MAX_NAME_LENGTH);
}

/** The operation and the label of the event's type: there must be few names of spans. */
export function spanName(operation: string, labels: TypeLabels | undefined): string {
  return labels === undefined ? operation : `${operation} ${labels.type}`;
}

/** The attributes of a messaging span, by the conventions of OpenTelemetry. */
export function messagingAttributes(
  operation: 'process' | 'enqueue',
  event: Report['event'],
  labels: TypeLabels | undefined,
): Attributes {
  return {
    'messaging.system': 'posthorn',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation === 'process' ? 'process' : 'send',
    'messaging.destination.name': labels?.type,
    'messaging.message.id': event && shortName(event.id),
    'posthorn.event.type': event?.type === undefined ? undefined : shortName(event.type),
  };
}

/** The attributes that are known at the end of a delivery, a replay, a job, an accept or a rerun. */
export function reportAttributes(report: Report): Attributes {
  const { source, late, warnings, handlers } = report;
  const isDelivery = source === 'delivery';
  return {
    'posthorn.receiver': report.receiver,
    'posthorn.accepted_from': report.acceptedFrom,
    'posthorn.rerun': report.rerun?.run,
    'posthorn.provider': report.provider,
    'posthorn.account': report.event?.account && shortName(report.event.account),
    'posthorn.outcome': report.outcome,
    'error.type': report.code,
    'http.response.status_code': isDelivery && !late ? report.status : undefined,
    'posthorn.attempt': report.attempt,
    'posthorn.final': report.final,
    'posthorn.late': late,
    'posthorn.answer_sent': isDelivery ? report.answerSent : undefined,
    'posthorn.endpoint_at_risk': report.endpointAtRisk,
    'posthorn.signing_key.index': report.keyIndex,
    'posthorn.warnings': warnings.length === 0 ? undefined : warnings.map(warningCodeOf),
    'posthorn.key_wait': longestKeyWait(handlers),
  };
}

/** The longest wait of a handler for its concurrency key, in seconds; undefined if none has a key. */
function longestKeyWait(handlers: readonly HandlerReport[]): number | undefined {
  const waits = handlers.flatMap(({ keyWaitMs }) => (keyWaitMs === undefined ? [] : [keyWaitMs / 1_000]));
  return waits.length === 0 ? undefined : Math.max(...waits);
}
