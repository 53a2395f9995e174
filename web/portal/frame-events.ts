/** Events of embedded pages, for server and browser. */

/** Events of a signing page and of the editor; see docs/embedding.md. Sent only to listed origins. */
export type FrameEvent =
  | {
      readonly type: 'ready' | 'viewed' | 'waiting' | 'signed' | 'refused' | 'expired' | 'closed';
      readonly id: string;
    }
  /** Of the editor; `id` is that of the draft, `documents` are the ids of the documents made of it. */
  | { readonly type: 'saved'; readonly id: string }
  | { readonly type: 'sent'; readonly id: string; readonly documents: readonly string[] }
  /** `code`: error code of the API; `FrameRefused` where the organization does not list the parent's origin. */
  | { readonly type: 'error'; readonly id?: string; readonly code: string }
  /** Height of the content, CSS pixels. */
  | { readonly type: 'resize'; readonly height: number };
