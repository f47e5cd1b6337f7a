import type { HTMLAttributes } from 'vue';
import type { InquiryForm, InquiryFormAttributes, InquiryFormEvents } from './inquiry-form.js';

export * from './inquiry-form.js';

type Handlers = {
  [Name in keyof InquiryFormEvents as `on${Capitalize<Name>}`]?: (
    event: InquiryFormEvents[Name],
  ) => unknown;
};

declare module 'vue' {
  interface GlobalComponents {
    'inquiry-form': new () => {
      $props: HTMLAttributes &
        InquiryFormAttributes &
        Partial<Pick<InquiryForm, 'getToken' | 'branding'>> &
        Handlers;
    };
  }
}
