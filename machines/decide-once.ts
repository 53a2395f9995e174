/**
 * Computes each decision once: guards and actions of a transition ask for the decision on the same message. Pure functions
 * only, since a decision may be computed without being carried out.
 */
export function decideOnce<Context, Message, Decision>(): (
  decide: (context: Context, message: Message) => Decision,
  context: Context,
  message: Message,
) => Decision {
  let latest:
    | {
        readonly decide: unknown;
        readonly context: Context;
        readonly message: Message;
        readonly decision: Decision;
      }
    | undefined;
  return (decide, context, message) => {
    if (latest?.decide !== decide || latest.context !== context || latest.message !== message)
      latest = { decide, context, message, decision: decide(context, message) };
    return latest.decision;
  };
}
