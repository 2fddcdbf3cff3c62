/** A post horn, roughly. */
export const icon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<rect width="16" height="16" rx="3" fill="#8a5a00"/>
<path d="M2 6v4l6-1.2V7.2zM9 8a3 3 0 1 1 3 3H5" fill="none" stroke="#fff" stroke-width="1.6"/>
</svg>
`;
