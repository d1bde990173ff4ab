import ipaddr from 'ipaddr.js';

/**
 * One client in the eyes of a limit by address: an IPv4 address, however it is written, or an IPv6 network of 64 bits,
 * in which one machine may take any address.
 */
export function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown';
  const ip = ipaddr.process(address);
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  return `${ip.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
