/** Requests to webhooks, and the port that sends them. */
import type { Millis } from '../../../machines/ids.ts';

interface WebhookRequest {
  readonly url: string;
  /** True: an operator configured the URL, so its address need not be public. */
  readonly fromOperator: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8 JSON. */
  readonly body: string;
}

export interface WebhookResponse {
  readonly status: number;
  /** The beginning of its body as text. */
  readonly excerpt: string;
  /** Milliseconds it asked to be left alone (`Retry-After`); null when it did not. */
  readonly retryAfter: Millis | null;
}

export interface WebhookCaller {
  /**
   * Makes one call; follows no redirects.
   * @param signal aborted when the result is no longer needed
   * @throws {WebhookFailure} when there is no answer
   */
  call(call: WebhookRequest, signal: AbortSignal): Promise<WebhookResponse>;
  /** Closes connections; calls in progress fail. */
  close(): void;
}

/** Reason why there is no answer. */
export class WebhookFailure extends Error {
  readonly code: 'webhook.address' | 'webhook.timeout' | 'webhook.unreachable';
  constructor(code: WebhookFailure['code'], message: string) {
    super(message);
    this.name = 'WebhookFailure';
    this.code = code;
  }
}
