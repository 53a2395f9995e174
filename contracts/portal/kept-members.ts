/**
 * Texts of a creation request that are stored with the document as they are, and shown by it. A new one is added here
 * alone: the request, the stored document, replies, webhooks, the API description and the client follow. Without imports,
 * because the threads of the actors load it.
 */

interface KeptMember {
  /** Maximum number of characters of the line. */
  readonly most: number;
  /** Its meaning in requests. */
  readonly given: string;
  /** Its meaning in replies and webhooks, without a full stop. */
  readonly shown: string;
  readonly example: string;
  /** True: webhooks show it, too. Left out where there is none: receivers may know no such member. */
  readonly inWebhooks: boolean;
}

export const KEPT_MEMBERS = {
  externalId: {
    most: 200,
    given:
      'Id of the document in the system of the client. `GET /api/documents?ExternalId=` finds it. At most 200 characters.',
    shown: 'The id that the application gave at creation',
    example: 'order-4711',
    inWebhooks: true,
  },
} satisfies { readonly [name: string]: KeptMember };

type Name = keyof typeof KEPT_MEMBERS;

/** As they are stored; an absent one was not given. */
export type KeptMembers = { readonly [name in Name]?: string };

const NAMES = Object.keys(KEPT_MEMBERS) as Name[];
/** Those that webhooks show. */
export const ANNOUNCED_MEMBERS = NAMES.filter((name) => KEPT_MEMBERS[name].inWebhooks);

/** Something for each of them, by name. */
export function forKept<Result>(make: (name: Name, about: KeptMember) => Result) {
  const made = NAMES.map((name) => [name, make(name, KEPT_MEMBERS[name])]);
  return Object.fromEntries(made) as { readonly [name in Name]: Result };
}

/** Those that a request gives. */
export function keptOf(request: { readonly [name in Name]?: string | null | undefined }): KeptMembers {
  return picked(request, NAMES);
}

/** Those of a document that webhooks show. */
export function announcedOf(document: KeptMembers): KeptMembers {
  return picked(document, ANNOUNCED_MEMBERS);
}

function picked(
  given: { readonly [name in Name]?: string | null | undefined },
  names: readonly Name[],
): KeptMembers {
  return Object.fromEntries(names.flatMap((name) => (given[name] ? [[name, given[name]]] : [])));
}
