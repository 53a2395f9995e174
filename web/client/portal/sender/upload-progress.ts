/** Display of an upload in progress. */
import { createElement } from '../../dom.ts';

export interface UploadProgress {
  /** @param percent sent so far */
  show(percent: number): void;
  /** Removes the display. */
  end(): void;
}

/**
 * Adds a progress bar after an element. It is hidden from screen readers, which would read each change: a live region
 * announces the begin and the end of the upload.
 */
export function showUpload(after: Element): UploadProgress {
  const bar = createElement('progress', { max: '100', value: '0', 'aria-hidden': 'true' });
  after.after(bar);
  return {
    show: (percent) => {
      bar.value = percent;
    },
    end: () => bar.remove(),
  };
}
