/**
 * Hands codes for telephones to the gateway of the operator: JSON, signed as calls of webhooks are. A repeated call has
 * the same `webhook-id`.
 *
 * Source: docs/webhooks.md, "Codes by SMS and WhatsApp"; `Portal:MessageGateway`.
 */
import type { Clock } from '@sealwright/runtime';
import { filled, TEXTS } from '../../../contracts/texts/texts.ts';
import { isoTime } from '../../../contracts/times.ts';
import { CODE_DELIVERY_TIMEOUT_MS, type MailContext } from '../../../machines/portal/mail.ts';
import type { MailRequest } from '../../../machines/portal/portal-types.ts';
import { attemptWebhook } from '../../shared/webhooks/webhook-attempt.ts';
import type { WebhookCaller } from '../../shared/webhooks/webhook-port.ts';
import { MailFailure, oneLine } from './mail-port.ts';
import { type CodeLookup, codeOf, type MailRenderingOptions } from './mail-rendering.ts';

/** `Portal:MessageGateway`. */
export interface MessageGateway {
  readonly url: string;
  /** `whsec_…` */
  readonly secret: string;
  /** Messages of an organization in a day, at most. */
  readonly perDay: number;
}

/** Answers that a later attempt may change; other 4xx refuse the message. Source: RFC 9110 §15.5; RFC 6585 §4. */
const TEMPORARY: readonly number[] = [401, 403, 404, 408, 409, 425, 429];

/**
 * Resolves with the answer of the gateway.
 * @throws {MailFailure} `message.gateway`: permanent where the gateway has refused the message
 */
export async function sendMessage(
  id: string,
  request: MailRequest & Required<Pick<MailRequest, 'message'>>,
  context: Pick<MailContext, 'createdAt'>,
  options: {
    readonly gateway: MessageGateway | undefined;
    readonly organization: MailRenderingOptions['organization'];
    readonly codeFor: CodeLookup;
    readonly caller: WebhookCaller;
    readonly clock: Pick<Clock, 'now' | 'elapsed'>;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const { gateway, organization, codeFor } = options;
  if (gateway === undefined)
    throw new MailFailure('message.gateway', 'Portal:MessageGateway:Url is not set.', false);
  // Pauses double, and an operator or sender may ask again: a code that is over costs money and helps nobody.
  if (options.clock.now() >= context.createdAt + CODE_DELIVERY_TIMEOUT_MS)
    throw new MailFailure('message.gateway', 'The code is no longer valid.', true);
  const code = codeOf(request, codeFor);
  const body = JSON.stringify(bodyOf(id, code, request, { createdAt: context.createdAt, organization }));
  const { attempt, outcome } = await attemptWebhook(
    { ...gateway, authType: 'NoAuth', token: null, fromOperator: true },
    { id, sequence: 1, body },
    options,
  );
  const { status, error, response } = attempt;
  if (outcome === 'delivered') return `The gateway took the message (HTTP ${status}).`;
  // A gateway may repeat the body in its answer, and the answer is kept.
  const answer = oneLine(`${error} ${response ?? ''}`.replaceAll(code, '******'), 500);
  const isRefused = status !== null && status >= 400 && status < 500 && !TEMPORARY.includes(status);
  throw new MailFailure('message.gateway', answer, isRefused);
}

function bodyOf(
  id: string,
  code: string,
  { message, document }: MailRequest & Required<Pick<MailRequest, 'message'>>,
  {
    createdAt,
    organization: { name, language },
  }: Pick<MailContext, 'createdAt'> & Pick<MailRenderingOptions, 'organization'>,
) {
  const minutes = CODE_DELIVERY_TIMEOUT_MS / 60_000;
  // Of the document nothing is said: whoever makes one chooses its name, and could send any text to any telephone.
  const text = filled(TEXTS[language].mails.codeMessage, { code, organization: oneLine(name, 60), minutes });
  return {
    id,
    type: 'Code',
    ...message,
    code,
    text,
    language,
    expirationDate: isoTime(createdAt + CODE_DELIVERY_TIMEOUT_MS),
    organization: { id: document.organizationId, name },
    documentId: document.id,
  };
}
