import { z } from 'zod';

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Addresses of servers with commas between, without a slash at the end. */
export const addressList = z
  .string()
  .transform((list) => list.split(',').map((url) => url.trim().replace(/\/+$/, '')))
  .refine(
    (urls) => urls.every(isAddress),
    'must be one address that starts with http:// or https://, or several with commas between',
  )
  .refine((urls) => !urls.some((url) => url.includes('@')), 'must hold no password')
  .refine((urls) => new Set(urls).size === urls.length, 'must name each server once');
