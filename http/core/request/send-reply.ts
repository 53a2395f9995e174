/** Sends the reply of a handler. */
import { sendFile } from '../file-reply.ts';
import { type Reply, type ReplyContext, sendSmall, sendStream } from '../reply.ts';
import type { Exchange } from '../transport/exchange.ts';

/** Resolves when the reply is sent; undefined: it is sent already. */
export function sendReply(
  exchange: Exchange,
  reply: Reply,
  context: ReplyContext,
): Promise<void> | undefined {
  if (reply.kind === 'file') return sendFile(exchange, reply, context);
  if (reply.kind === 'stream') return sendStream(exchange, reply, context);
  sendSmall(exchange, reply, context);
  return undefined;
}
