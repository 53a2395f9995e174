/** Brings the islands of a page to life; `Island` of web/components has rendered them. */
import { type ComponentType, hydrate } from 'preact';

/** Components by the name that their place on the page has. */
type Islands = Readonly<Record<string, ComponentType<never>>>;

export function hydrateIslands(components: Islands): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-island]')) {
    const Component = components[place.dataset['island'] ?? ''] as ComponentType<object> | undefined;
    if (Component === undefined) continue;
    const props = JSON.parse(place.dataset['props'] ?? '{}') as object;
    hydrate(<Component {...props} />, place);
    place.dataset['live'] = '';
  }
}
